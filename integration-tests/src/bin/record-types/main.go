// Writes down how Go reads and writes the types of Kubernetes as JSON, and how
// server-side apply merges them: the first from client-go's scheme, the second
// from the documents of /openapi/v3, whose files are the arguments.
//
// Of each type that the kinds reach, its fields as "<type> <flags>":
//
//	s n b        string, number, boolean        T M    time, with microseconds
//	Q I B        quantity, int-or-string, bytes x      anything
//	@name        another type                   *T     a pointer
//	[atomic]T [set]T [key,key]T  a list         {}T {atomic}T  a map
//
// with the flags o (omitempty), z (omitzero), ! (atomic here, whatever the type
// says), =json (the default of a field that is a key) and :name (what Go calls
// the type, where that doesn't follow from its form: "v1.Protocol", "int64") and
// ^name (the embedded type that has the field).
//
// Two more files are written to the working folder: patches.json, how strategic
// merge patches merge the fields that have more to say than their type, as
// "<strategies> <merge key>" of the types' tags; protobuf.json, which field has
// which number in protobuf ("~type" for one whose fields are those of its owner in
// JSON); and schemas.json.gz, the schemas of all documents.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

var groups = []string{
	"v1", "apps/v1", "batch/v1", "networking.k8s.io/v1", "rbac.authorization.k8s.io/v1", "coordination.k8s.io/v1",
	"autoscaling/v2", "policy/v1", "events.k8s.io/v1", "apiextensions.k8s.io/v1", "discovery.k8s.io/v1",
	"scheduling.k8s.io/v1", "storage.k8s.io/v1", "autoscaling/v1", "authentication.k8s.io/v1",
	"authorization.k8s.io/v1", "admissionregistration.k8s.io/v1", "apiregistration.k8s.io/v1", "node.k8s.io/v1",
}

type property map[string]any

var (
	documents = map[string]property{}
	types     = map[string]map[string]string{}
	kinds     = map[string]string{}
	patches   = map[string]map[string]string{}
	numbers   = map[string]map[string]string{}
	leaves    = map[reflect.Type]string{
		reflect.TypeFor[meta.Time]():          "T",
		reflect.TypeFor[meta.MicroTime]():     "M",
		reflect.TypeFor[resource.Quantity]():  "Q",
		reflect.TypeFor[intstr.IntOrString](): "I",
		reflect.TypeFor[[]byte]():             "B",
	}
)

func main() {
	for _, file := range os.Args[1:] {
		text, err := os.ReadFile(file)
		check(err)
		var document struct {
			Components struct{ Schemas map[string]property }
		}
		check(json.Unmarshal(text, &document))
		for name, schema := range document.Components.Schemas {
			documents[name] = schema
		}
	}
	check(apiextensions.AddToScheme(scheme.Scheme))
	check(apiregistration.AddToScheme(scheme.Scheme))
	for kind, goType := range scheme.Scheme.AllKnownTypes() {
		served := documents[name(goType)] != nil && documents[name(goType)]["x-kubernetes-group-version-kind"] != nil
		_, object := reflect.New(goType).Interface().(meta.Object)
		if slices.Contains(groups, kind.GroupVersion().String()) && object && served {
			kinds[apiVersion(kind)+" "+kind.Kind] = short(goType)
			record(goType)
		}
	}
	kinds["v1 DeleteOptions"] = short(reflect.TypeFor[meta.DeleteOptions]())
	record(reflect.TypeFor[meta.DeleteOptions]())
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(map[string]any{"kinds": kinds, "types": types}))
	// A line for each type: what a new version of Kubernetes changes can be read.
	text := strings.ReplaceAll(out.String(), "},\"", "},\n\"")
	_, err := os.Stdout.WriteString(text)
	check(err)
	writeLines("patches.json", patches)
	writeLines("protobuf.json", numbers)
	writeSchemas()
}

func writeLines(file string, content any) {
	encoded, err := json.Marshal(content)
	check(err)
	text := strings.ReplaceAll(string(encoded), "},\"", "},\n\"") + "\n"
	check(os.WriteFile(file, []byte(text), 0o644))
}

// Notes the number of each field of a type, and of those that are embedded in it.
func number(goType reflect.Type) {
	if _, known := numbers[short(goType)]; known {
		return
	}
	of := map[string]string{}
	numbers[short(goType)] = of
	for field := range goType.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		tag := strings.Split(field.Tag.Get("protobuf"), ",")
		if len(tag) < 2 || name == "-" {
			continue
		}
		if name == "" {
			number(field.Type)
			name = "~" + short(field.Type)
		}
		of[tag[1]] = name
	}
}

// Those of options and watches list all kinds that there are, differently in each
// document, and nobody asks for them.
func writeSchemas() {
	delete(documents, "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions")
	delete(documents, "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent")
	file, err := os.Create("schemas.json.gz")
	check(err)
	writer, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	check(err)
	encoder := json.NewEncoder(writer)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(documents))
	check(writer.Close())
	check(file.Close())
}

func record(goType reflect.Type) {
	if _, known := types[short(goType)]; known {
		return
	}
	fields := map[string]string{}
	types[short(goType)] = fields
	number(goType)
	document := documents[name(goType)]
	if document["x-kubernetes-map-type"] == "atomic" {
		fields["!"] = "atomic"
	}
	properties, _ := document["properties"].(map[string]any)
	collect(short(goType), goType, properties, fields, "")
}

func collect(owner string, goType reflect.Type, properties map[string]any, fields map[string]string, within string) {
	for field := range goType.Fields() {
		tag := strings.Split(field.Tag.Get("json"), ",")
		if tag[0] == "-" || !field.IsExported() {
			continue
		}
		if tag[0] == "" {
			collect(owner, field.Type, properties, fields, " ^"+field.Type.Name())
			continue
		}
		if strategy := field.Tag.Get("patchStrategy"); strategy != "" {
			if patches[owner] == nil {
				patches[owner] = map[string]string{}
			}
			patches[owner][tag[0]] = strings.TrimSpace(strategy + " " + field.Tag.Get("patchMergeKey"))
		}
		described, _ := properties[tag[0]].(map[string]any)
		text := expression(field.Type, described)
		flags := ""
		if slices.Contains(tag, "omitempty") {
			flags += " o"
		}
		if slices.Contains(tag, "omitzero") {
			flags += " z"
		}
		atomic := described["x-kubernetes-map-type"] == "atomic" && !strings.Contains(text, "{")
		// An object of which nothing is known is a whole.
		if atomic || field.Type == reflect.TypeFor[runtime.RawExtension]() {
			flags += " !"
		}
		if value := described["default"]; value != nil && value != "" && value != 0.0 && value != false {
			if _, object := value.(map[string]any); !object {
				encoded, err := json.Marshal(value)
				check(err)
				flags += " =" + string(encoded)
			}
		}
		if called := called(field.Type); called != "" {
			flags += " :" + called
		}
		if tag[0] != "apiVersion" && tag[0] != "kind" {
			flags += within
		}
		fields[tag[0]] = text + flags
	}
}

func expression(goType reflect.Type, described property) string {
	if leaf, known := leaves[goType]; known {
		return leaf
	}
	switch goType.Kind() {
	case reflect.Pointer:
		return "*" + expression(goType.Elem(), described)
	case reflect.String:
		return "s"
	case reflect.Bool:
		return "b"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64, reflect.Uint32, reflect.Uint64:
		return "n"
	case reflect.Slice:
		items, _ := described["items"].(map[string]any)
		return "[" + relation(described) + "]" + expression(goType.Elem(), items)
	case reflect.Map:
		values, _ := described["additionalProperties"].(map[string]any)
		atomic := ""
		if described["x-kubernetes-map-type"] == "atomic" {
			atomic = "atomic"
		}
		return "{" + atomic + "}" + expression(goType.Elem(), values)
	case reflect.Struct:
		_, marshaller := reflect.New(goType).Interface().(json.Marshaler)
		if marshaller || documents[name(goType)] == nil || documents[name(goType)]["properties"] == nil && goType.NumField() > 0 {
			return "x"
		}
		record(goType)
		return "@" + short(goType)
	default:
		return "x"
	}
}

// The name of a type of texts, numbers or lists that is not the usual one.
func called(goType reflect.Type) string {
	if goType.Kind() == reflect.Pointer {
		return called(goType.Elem())
	}
	inner, named := goType, false
	for inner.Kind() == reflect.Slice || inner.Kind() == reflect.Map || inner.Kind() == reflect.Pointer {
		named = named || inner.Name() != ""
		inner = inner.Elem()
	}
	if _, leaf := leaves[goType]; leaf {
		return ""
	}
	switch inner.Kind() {
	case reflect.Struct, reflect.Interface, reflect.Uint8:
		inner = nil
	default:
		named = named || !slices.Contains([]string{"string", "int32", "bool"}, inner.String())
	}
	if named {
		return goType.String()
	}
	return ""
}

func relation(described property) string {
	keys, _ := described["x-kubernetes-list-map-keys"].([]any)
	if described["x-kubernetes-list-type"] == nil && described["x-kubernetes-patch-strategy"] != nil {
		if key := described["x-kubernetes-patch-merge-key"]; key != nil {
			keys = []any{key}
		}
		if strings.HasPrefix(described["x-kubernetes-patch-strategy"].(string), "merge") && len(keys) == 0 {
			return "set"
		}
	}
	if described["x-kubernetes-list-type"] == "set" {
		return "set"
	}
	if len(keys) == 0 {
		return "atomic"
	}
	var names []string
	for _, key := range keys {
		names = append(names, key.(string))
	}
	return strings.Join(names, ",")
}

// The name of a type in the documents.
func name(goType reflect.Type) string {
	domain, path, _ := strings.Cut(goType.PkgPath(), "/")
	parts := strings.Split(domain, ".")
	slices.Reverse(parts)
	return strings.Join(parts, ".") + "." + strings.ReplaceAll(path, "/", ".") + "." + goType.Name()
}

// A name that is as short as it can be.
func short(goType reflect.Type) string {
	parts := strings.Split(goType.PkgPath(), "/")
	return strings.Join(parts[max(0, len(parts)-2):], ".") + "." + goType.Name()
}

func apiVersion(kind schema.GroupVersionKind) string {
	return kind.GroupVersion().String()
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
