// A small operator, as any user of controller-runtime would write it: each Greeting
// gets a ConfigMap with its text, says so in its status and by an Event, and is let
// go when a note about it is written. A lease makes one process the leader.
package main

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const finalizer = "example.com/farewell"

var greetings = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Greeting"}

type greeter struct {
	client.Client
	events record.EventRecorder
}

func (g *greeter) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	greeting := &unstructured.Unstructured{}
	greeting.SetGroupVersionKind(greetings)
	if err := g.Get(ctx, request.NamespacedName, greeting); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if greeting.GetDeletionTimestamp() != nil {
		return reconcile.Result{}, g.letGo(ctx, greeting)
	}
	if controllerutil.AddFinalizer(greeting, finalizer) {
		if err := g.Update(ctx, greeting); err != nil {
			return reconcile.Result{}, err
		}
	}
	text, _, err := unstructured.NestedString(greeting.Object, "spec", "text")
	if err != nil {
		return reconcile.Result{}, err
	}
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: greeting.GetName(), Namespace: greeting.GetNamespace(),
	}}
	done, err := controllerutil.CreateOrUpdate(ctx, g.Client, configMap, func() error {
		configMap.Data = map[string]string{"text": text}
		return controllerutil.SetControllerReference(greeting, configMap, g.Scheme())
	})
	if err != nil {
		return reconcile.Result{}, err
	}
	if done != controllerutil.OperationResultNone {
		g.events.Eventf(greeting, corev1.EventTypeNormal, "Said", "said %q", text)
	}
	before := greeting.DeepCopy()
	if err := unstructured.SetNestedField(greeting.Object, text, "status", "said"); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, g.Status().Patch(ctx, greeting, client.MergeFrom(before))
}

// letGo writes the note and removes the finalizer.
func (g *greeter) letGo(ctx context.Context, greeting *unstructured.Unstructured) error {
	note := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: greeting.GetName() + "-farewell", Namespace: greeting.GetNamespace(),
	}}
	if err := g.Create(ctx, note); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if controllerutil.RemoveFinalizer(greeting, finalizer) {
		return client.IgnoreNotFound(g.Update(ctx, greeting))
	}
	return nil
}

func run() error {
	log.SetLogger(zap.New())
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(settings(config), ctrl.Options{
		Metrics:                 server.Options{BindAddress: "0"},
		LeaderElection:          true,
		LeaderElectionID:        "greeter",
		LeaderElectionNamespace: "default",
	})
	if err != nil {
		return err
	}
	greeting := &unstructured.Unstructured{}
	greeting.SetGroupVersionKind(greetings)
	g := &greeter{manager.GetClient(), manager.GetEventRecorderFor("greeter")}
	err = ctrl.NewControllerManagedBy(manager).For(greeting).Owns(&corev1.ConfigMap{}).Complete(g)
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func settings(config *rest.Config) *rest.Config {
	if encoding := os.Getenv("CONTENT_TYPE"); encoding != "" {
		config.ContentType = encoding
	}
	return config
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
