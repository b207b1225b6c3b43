// One binary with the parts of a Kubernetes control plane, for tests and for
// development. Its first argument chooses the applet; so does the name it is
// called by, so that links named like the parts make a folder in the shape
// that KUBEBUILDER_ASSETS asks for.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	etcd "go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectlcli "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// Each applet gets its arguments with its own name in front and does not return
// unless it succeeded.
var applets = map[string]func(args []string){
	"etcd": func(args []string) {
		// etcd reads the process's arguments in places, not only its parameter.
		os.Args = args
		etcd.Main(args)
	},
	"kube-apiserver": func(args []string) {
		command := apiserver.NewAPIServerCommand()
		command.SetArgs(args[1:])
		os.Exit(cli.Run(command))
	},
	"kube-controller-manager": func(args []string) {
		command := controllers.NewControllerManagerCommand()
		command.SetArgs(args[1:])
		os.Exit(cli.Run(command))
	},
	"kube-scheduler": func(args []string) {
		command := scheduler.NewSchedulerCommand()
		command.SetArgs(args[1:])
		os.Exit(cli.Run(command))
	},
	"kubectl": func(args []string) {
		// kubectl looks for plugins by the process's arguments.
		os.Args = args
		if err := cli.RunNoErrOutput(kubectlcli.NewDefaultKubectlCommand()); err != nil {
			kubectlutil.CheckErr(err)
		}
	},
	"supervise": func(args []string) {
		os.Exit(supervise(args[1:]))
	},
}

func main() {
	args := append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...)
	run, found := applets[args[0]]
	if !found && len(args) > 1 {
		args = args[1:]
		run, found = applets[args[0]]
	}
	if !found {
		fmt.Fprintln(os.Stderr,
			"usage: control-plane (etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kubectl|supervise) ...")
		os.Exit(2)
	}
	grasp()
	run(args)
}
