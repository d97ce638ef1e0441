// The peer: an informer of controller-runtime on ConfigMaps, set up the way its documentation recommends. Prints one JSON line
// when its cache is synced and the garbage collector has run, then waits to be ended.
package main

import (
	"context"
	"encoding/json"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

func rssBytes() int64 {
	status, err := os.ReadFile("/proc/self/status")
	must(err)
	for _, line := range strings.Split(string(status), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			must(err)
			return kib * 1024
		}
	}
	panic("no VmRSS in /proc/self/status")
}

func heapBytes() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	kubeconfig, mode, namespace := os.Args[1], os.Args[2], os.Args[3]
	log.SetLogger(zap.New())
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	must(err)
	ctx := context.Background()
	before := heapBytes()
	started := time.Now()
	informers, err := cache.New(config, cache.Options{
		DefaultNamespaces: map[string]cache.Config{namespace: {}},
		DefaultTransform:  cache.TransformStripManagedFields(),
	})
	must(err)
	var list client.ObjectList = &corev1.ConfigMapList{}
	var object client.Object = &corev1.ConfigMap{}
	if mode == "metadata" {
		meta := &metav1.PartialObjectMetadata{}
		meta.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
		metas := &metav1.PartialObjectMetadataList{}
		metas.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMapList"})
		list, object = metas, meta
	}
	_, err = informers.GetInformer(ctx, object, cache.BlockUntilSynced(false))
	must(err)
	go func() { must(informers.Start(ctx)) }()
	if !informers.WaitForCacheSync(ctx) {
		panic("cache did not sync")
	}
	took := time.Since(started)
	must(informers.List(ctx, list, client.UnsafeDisableDeepCopy, client.InNamespace(namespace)))
	var count int
	switch l := list.(type) {
	case *corev1.ConfigMapList:
		count = len(l.Items)
	case *metav1.PartialObjectMetadataList:
		count = len(l.Items)
	}
	list = nil
	runtime.GC()
	debug.FreeOSMemory()
	must(json.NewEncoder(os.Stdout).Encode(map[string]any{"objects": count, "rss": rssBytes(), "held": heapBytes() - before, "syncMs": took.Milliseconds()}))
	time.Sleep(time.Hour)
}
