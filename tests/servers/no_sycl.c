/* In place of the backend for Intel's GPUs that this build of Ollama is linked with: there is no such device, so that it
   computes on the CPU and none of Intel's libraries for GPUs (2 GB) is needed. The names are those of ggml-sycl.h. */
#include <stddef.h>

void *ggml_backend_sycl_reg(void) { return NULL; }

void *ggml_backend_sycl_init(int device) { (void)device; return NULL; }

void ggml_backend_sycl_get_device_name(int device, char *name, size_t size) { (void)device; if (size) *name = 0; }
