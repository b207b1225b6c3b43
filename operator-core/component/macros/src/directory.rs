//! The files of a directory.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A file of YAML or a template of one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// Its path below the directory, with slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// All `*.yaml` and `*.yml` below the directory, in the order of their paths. Hidden files and folders are left out.
///
/// # Errors
/// The mistake, for the person who wrote the macro's argument.
pub(crate) fn files(package: &Path, directory: &str) -> Result<Vec<File>, String> {
    if directory.is_empty() || Path::new(directory).is_absolute() {
        return Err(format!(
            "`{directory}` isn't a path below the package's directory, such as `manifests/web`"
        ));
    }
    let root = package.join(directory);
    let mut paths = Vec::new();
    below(&root, &mut paths)
        .map_err(|(path, error)| format!("`{}` can't be read: {error}", shown(package, &path)))?;
    let mut files = Vec::new();
    for path in paths {
        let name = path.strip_prefix(&root).ok().and_then(Path::to_str);
        let name = name.ok_or_else(|| format!("`{}` isn't a name in UTF-8", shown(package, &path)))?;
        let text = fs::read_to_string(&path)
            .map_err(|error| format!("`{}` can't be read: {error}", shown(package, &path)))?;
        files.push(File { path: name.replace('\\', "/"), text });
    }
    if files.is_empty() {
        return Err(format!("`{directory}` has no files `*.yaml` or `*.yml`"));
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(files)
}

/// Without the package's own path, which differs between machines.
fn shown(package: &Path, path: &Path) -> String {
    path.strip_prefix(package).unwrap_or(path).display().to_string()
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), (PathBuf, io::Error)> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| (path, error)
    };
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let path = entry.map_err(at(folder))?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().first() == Some(&b'.'));
        if is_hidden {
            continue;
        }
        if path.is_dir() {
            below(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(files: &[&str]) -> tempfile::TempDir {
        let package = tempfile::tempdir().expect("a folder");
        for name in files {
            let file = package.path().join(name);
            fs::create_dir_all(file.parent().expect("it lies in the folder")).expect("a folder");
            fs::write(file, format!("# {name}\n")).expect("a file");
        }
        package
    }

    #[test]
    fn files_are_in_the_order_of_their_paths_and_others_are_left_out() {
        let names = [
            "web/b.yml",
            "web/a/z.yaml",
            "web/a.yaml",
            "web/README.md",
            "web/.hidden.yaml",
            "web/.git/c.yaml",
            "c.yaml",
        ];
        let package = package(&names);
        let files = files(package.path(), "web").expect("there are files");
        let paths: Vec<_> = files.iter().map(|file| &*file.path).collect();
        assert_eq!(paths, ["a.yaml", "a/z.yaml", "b.yml"]);
        assert_eq!(files[1].text, "# web/a/z.yaml\n");
    }

    #[test]
    fn a_directory_without_files_is_a_mistake() {
        let package = package(&["web/README.md", "c.yaml"]);
        fs::write(package.path().join("bad.yaml"), "").expect("a file");
        for (directory, what) in [
            ("", "`` isn't a path below the package's directory, such as `manifests/web`"),
            ("/etc", "`/etc` isn't a path below the package's directory, such as `manifests/web`"),
            ("web", "`web` has no files `*.yaml` or `*.yml`"),
            ("absent", "`absent` can't be read: No such file or directory (os error 2)"),
            ("c.yaml", "`c.yaml` can't be read: Not a directory (os error 20)"),
        ] {
            assert_eq!(files(package.path(), directory), Err(what.to_owned()));
        }
    }

    #[test]
    fn a_file_that_is_not_text_is_a_mistake() {
        let package = package(&["web/a.yaml"]);
        fs::write(package.path().join("web/b.yaml"), [0xff, 0xfe]).expect("a file");
        let error = files(package.path(), "web").expect_err("it isn't text");
        assert_eq!(error, "`web/b.yaml` can't be read: stream did not contain valid UTF-8");
    }
}
