// Command controlplane is a whole Kubernetes control plane in one file: each component is linked in once, and the first
// argument says which of them this process is. Shared dependencies are then compiled and stored once, not seven times.
package main

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
	kubectl "k8s.io/kubectl/pkg/cmd"
)

// components holds constructors, not commands: building a command registers flags and metrics, so only one may be built.
var components = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": func() *cobra.Command { return controllermanager.NewControllerManagerCommand() },
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kubelet":                 func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
	"kube-proxy":              func() *cobra.Command { return proxy.NewProxyCommand() },
	"kubectl":                 func() *cobra.Command { return kubectl.NewDefaultKubectlCommand() },
}

func main() {
	if len(os.Args) < 2 {
		usage("no component named")
	}
	name := os.Args[1]
	// Every component reads os.Args by itself and must find its own name in first place.
	os.Args = os.Args[1:]
	if name == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	command, known := components[name]
	if !known {
		usage(fmt.Sprintf("unknown component %q", name))
	}
	os.Exit(cli.Run(command()))
}

func usage(problem string) {
	names := []string{"etcd"}
	for name := range components {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Fprintf(os.Stderr, "controlplane: %s; usage: controlplane %s [flags]\n", problem, strings.Join(names, "|"))
	os.Exit(2)
}
