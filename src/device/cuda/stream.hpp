// Owned streams and events, and a guard that makes a GPU current for a scope.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "device/cuda/check.hpp"

namespace stope::cuda {

/// A queue of work on the GPU that was current when the stream was made. It is independent of the default stream.
class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const noexcept { return stream_; }
  /// Waits until everything queued so far is done.
  void wait() const { check(cudaStreamSynchronize(stream_), "waiting for the GPU"); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A mark in a stream.
class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  cudaEvent_t get() const noexcept { return event_; }
  void record(const Stream& stream) { check(cudaEventRecord(event_, stream.get()), "marking a stream"); }
  /// Blocks the calling thread. Returns at once if the event was never recorded.
  void wait() const { check(cudaEventSynchronize(event_), "waiting for the GPU"); }
  /// Holds back what is queued in `stream` from now on until the event is reached.
  void hold(const Stream& stream) const { check(cudaStreamWaitEvent(stream.get(), event_, 0), "making a stream wait"); }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A mark in a stream that also records its time.
class Clock {
 public:
  Clock() { check(cudaEventCreate(&event_), "making an event"); }
  ~Clock() { cudaEventDestroy(event_); }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "marking a stream"); }
  void record(const Stream& stream) { record(stream.get()); }
  void wait() const { check(cudaEventSynchronize(event_), "waiting for the GPU"); }
  /// Returns milliseconds; the stream must have passed both marks.
  float since(const Clock& earlier) const {
    float milliseconds = 0.0F;
    check(cudaEventElapsedTime(&milliseconds, earlier.event_, event_), "reading a clock");
    return milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Adds up the seconds that pieces of work took in streams, one after the other.
class Stopwatch {
 public:
  void start(cudaStream_t stream) { begun_.record(stream); }
  void stop(cudaStream_t stream) {
    done_.record(stream);
    is_pending_ = true;
  }
  /// Adds the piece that was stopped last; its stream must have passed the end of it.
  void read() {
    if (is_pending_) seconds_ += 1e-3 * static_cast<double>(done_.since(begun_));
    is_pending_ = false;
  }
  double seconds() const noexcept { return seconds_; }

 private:
  Clock begun_, done_;
  bool is_pending_ = false;
  double seconds_ = 0.0;
};

/// Makes a GPU current for the calling thread and restores the one before at the end, because the program may use CUDA,
/// too.
class CurrentGpu {
 public:
  explicit CurrentGpu(int gpu) {
    cudaGetDevice(&before_);
    check(cudaSetDevice(gpu), "selecting the GPU");
  }
  ~CurrentGpu() { cudaSetDevice(before_); }
  CurrentGpu(const CurrentGpu&) = delete;
  CurrentGpu& operator=(const CurrentGpu&) = delete;

 private:
  int before_ = 0;
};

}  // namespace stope::cuda
