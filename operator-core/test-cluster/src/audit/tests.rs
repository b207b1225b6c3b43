//! Reading logs.

use std::io::Write;

use super::*;

/// A log in a file.
struct Log(tempfile::NamedTempFile);

impl Log {
    fn new(text: &str) -> Self {
        let log = Self(tempfile::NamedTempFile::new().unwrap());
        log.write(text);
        log
    }

    fn write(&self, text: &str) {
        self.0.as_file().write_all(text.as_bytes()).unwrap();
    }

    fn reader(&self) -> AuditReader {
        AuditReader::of_file(self.0.path().to_owned())
    }
}

fn verbs(reader: &mut AuditReader) -> Vec<String> {
    reader.read().unwrap().into_iter().map(|event| event.verb).collect()
}

const LINE: &str = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"1",
    "stage":"ResponseComplete","requestURI":"/apis/apps/v1/namespaces/ns/deployments/d/status","verb":"patch",
    "user":{"username":"admin","groups":["system:masters"]},"impersonatedUser":{"username":"bob"},
    "userAgent":"operator/1","objectRef":{"resource":"deployments","namespace":"ns","name":"d",
    "apiGroup":"apps","apiVersion":"v1","subresource":"status"},"responseStatus":{"metadata":{},"code":200}}"#;

#[test]
fn an_event_says_who_did_what() {
    let events = parse(format!("{}\n", LINE.replace('\n', " ")).as_bytes()).unwrap();
    let [event] = &events[..] else { panic!("{events:?}") };
    assert_eq!((event.verb.as_str(), event.code), ("patch", 200));
    assert_eq!((event.user.as_str(), event.impersonated), ("bob", true));
    assert_eq!(event.user_agent, "operator/1");
    assert_eq!((event.group.as_str(), event.resource.as_str()), ("apps", "deployments"));
    assert_eq!((event.namespace.as_str(), event.name.as_str()), ("ns", "d"));
    assert_eq!((event.subresource.as_str(), event.stage.as_str()), ("status", "ResponseComplete"));
}

#[test]
fn a_path_without_an_object_and_an_unfinished_line() {
    let log =
        "{\"verb\":\"get\",\"requestURI\":\"/readyz\",\"user\":{\"username\":\"admin\"}}\n{\"verb\":\"li";
    let file = Log::new(log);
    let events = file.reader().read().unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!((events[0].uri.as_str(), events[0].resource.as_str(), events[0].code), ("/readyz", "", 0));
}

#[test]
fn a_reader_goes_on_where_it_was_and_leaves_an_unfinished_line_for_the_next_time() {
    let log = Log::new("{\"verb\":\"get\"}\n{\"verb\":\"li");
    let mut reader = log.reader();
    assert_eq!(verbs(&mut reader), ["get"]);
    assert!(verbs(&mut reader).is_empty());
    log.write("st\"}\n{\"verb\":\"watch\"}\n");
    assert_eq!(verbs(&mut reader.clone()), ["list", "watch"]);
    assert_eq!(verbs(&mut reader), ["list", "watch"]);
    assert!(verbs(&mut reader).is_empty());
}

#[test]
fn a_reader_of_what_comes_passes_over_whole_lines_only() {
    // The unfinished line is longer than a piece of the search for its beginning.
    let unfinished = format!("{{\"verb\":\"list\",\"userAgent\":\"{}", "x".repeat(40_000));
    let log = Log::new(&format!("{{\"verb\":\"get\"}}\n{unfinished}"));
    let mut reader = log.reader().skip_to_end().unwrap();
    assert!(verbs(&mut reader).is_empty());
    log.write("\"}\n");
    assert_eq!(verbs(&mut reader), ["list"]);
}

#[test]
fn a_log_that_is_not_there_yet_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.log");
    let mut reader = AuditReader::of_file(path.clone()).skip_to_end().unwrap();
    assert!(verbs(&mut reader).is_empty());
    std::fs::write(path, "{\"verb\":\"get\"}\n").unwrap();
    assert_eq!(verbs(&mut reader), ["get"]);
}

#[test]
fn a_line_that_is_no_json_is_told_each_time() {
    let log = Log::new("{\"verb\":\"get\"}\nnonsense\n");
    let mut reader = log.reader();
    assert!(matches!(reader.read(), Err(Error::Json { .. })));
    assert!(matches!(reader.read(), Err(Error::Json { .. })));
}

#[test]
fn a_reader_of_a_server_in_the_process_reads_what_is_new() {
    let log = MemoryLog::default();
    let entry = |verb: &str| AuditEvent { verb: verb.to_owned(), ..AuditEvent::default() };
    log.note(entry("get"));
    let mut reader = log.starting_now();
    assert!(verbs(&mut reader).is_empty());
    log.note(entry("list"));
    assert_eq!(verbs(&mut reader), ["list"]);
    assert!(verbs(&mut reader).is_empty());
    assert_eq!(log.all().len(), 2);
}
