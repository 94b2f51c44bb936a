// Keeps what the wheel needs of glibc at 2.28, whatever the glibc of the machine that builds it (CMakeLists.txt links
// it where that works: glibc on x86-64). The linker sends each call of a function named here to `__wrap_NAME`. That is
// the version which has been in glibc from the start, or a stand-in for a function which an old glibc lacks.
#if defined(__x86_64__) && defined(__linux__)
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>

// A jump to the old version of a function. It leaves all arguments where they are, and goes with the section if nobody
// calls it.
#define STOPE_OLD_AT(name, version)                          \
  asm(".symver stope_old_" #name "," #name "@GLIBC_" version \
      "\n"                                                   \
      ".pushsection .text.__wrap_" #name                     \
      ",\"ax\",@progbits\n"                                  \
      ".globl __wrap_" #name                                 \
      "\n"                                                   \
      ".hidden __wrap_" #name                                \
      "\n"                                                   \
      ".type __wrap_" #name                                  \
      ",@function\n"                                         \
      "__wrap_" #name ": jmp *stope_old_" #name              \
      "@GOTPCREL(%rip)\n"                                    \
      ".size __wrap_" #name ",.-__wrap_" #name               \
      "\n"                                                   \
      ".popsection")
#define STOPE_OLD(name) STOPE_OLD_AT(name, "2.2.5")

// CMakeLists.txt reads these names. The module calls some of them, CUDA's run-time library in the plug-in the others.
STOPE_OLD_AT(dlmopen, "2.3.4");
STOPE_OLD(dladdr);
STOPE_OLD(dlclose);
STOPE_OLD(dlerror);
STOPE_OLD(dlopen);
STOPE_OLD(dlsym);
STOPE_OLD(dlvsym);
STOPE_OLD(hypot);
STOPE_OLD(log2);
STOPE_OLD(__pthread_key_create);
STOPE_OLD(pthread_condattr_setpshared);
STOPE_OLD(pthread_create);
STOPE_OLD(pthread_detach);
STOPE_OLD(pthread_getspecific);
STOPE_OLD(pthread_join);
STOPE_OLD(pthread_key_create);
STOPE_OLD(pthread_key_delete);
STOPE_OLD(pthread_kill);
STOPE_OLD(pthread_mutex_trylock);
STOPE_OLD(pthread_mutexattr_destroy);
STOPE_OLD(pthread_mutexattr_init);
STOPE_OLD(pthread_mutexattr_setpshared);
STOPE_OLD(pthread_mutexattr_settype);
STOPE_OLD(pthread_once);
STOPE_OLD(pthread_rwlock_destroy);
STOPE_OLD(pthread_rwlock_init);
STOPE_OLD(pthread_rwlock_rdlock);
STOPE_OLD(pthread_rwlock_timedrdlock);
STOPE_OLD(pthread_rwlock_timedwrlock);
STOPE_OLD(pthread_rwlock_tryrdlock);
STOPE_OLD(pthread_rwlock_trywrlock);
STOPE_OLD(pthread_rwlock_unlock);
STOPE_OLD(pthread_rwlock_wrlock);
STOPE_OLD(pthread_rwlockattr_destroy);
STOPE_OLD(pthread_rwlockattr_init);
STOPE_OLD(pthread_rwlockattr_setpshared);
STOPE_OLD(pthread_setspecific);
STOPE_OLD(pthread_spin_destroy);
STOPE_OLD(pthread_spin_init);
STOPE_OLD(pthread_spin_lock);
STOPE_OLD(pthread_spin_trylock);
STOPE_OLD(pthread_spin_unlock);
STOPE_OLD(sem_destroy);
STOPE_OLD(sem_init);
STOPE_OLD(sem_post);
STOPE_OLD(sem_timedwait);
STOPE_OLD(sem_trywait);
STOPE_OLD(sem_wait);
STOPE_OLD(shm_open);
STOPE_OLD(shm_unlink);

asm(".symver stope_old_xstat,__xstat@GLIBC_2.2.5");
asm(".symver stope_old_fxstat,__fxstat@GLIBC_2.2.5");
asm(".symver stope_old_lxstat,__lxstat@GLIBC_2.2.5");
asm(".symver stope_old_lookup,dlsym@GLIBC_2.2.5");

extern "C" {

int stope_old_xstat(int version, const char* path, struct stat* result);
int stope_old_fxstat(int version, int file, struct stat* result);
int stope_old_lxstat(int version, const char* path, struct stat* result);
void* stope_old_lookup(void* library, const char* name);

int new_stat(const char* path, struct stat* result) asm("__wrap_stat");
int new_fstat(int file, struct stat* result) asm("__wrap_fstat");
int new_fstat64(int file, struct stat* result) asm("__wrap_fstat64");
int new_lstat(const char* path, struct stat* result) asm("__wrap_lstat");
int new_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                  const timespec* until) asm("__wrap_pthread_cond_clockwait");
int new_find_object(void* address, void* result) asm("__wrap__dl_find_object");
std::uint32_t new_arc4random() asm("__wrap_arc4random");
extern char single_threaded asm("__libc_single_threaded");

// Says that there are threads: atomic operations are right without them, too.
__attribute__((visibility("hidden"))) char single_threaded = 0;

// On x86-64 struct stat has one form, number 1.
int new_stat(const char* path, struct stat* result) {
  return stope_old_xstat(1, path, result);
}
int new_fstat(int file, struct stat* result) {
  return stope_old_fxstat(1, file, result);
}
int new_fstat64(int file, struct stat* result) {
  return stope_old_fxstat(1, file, result);
}
int new_lstat(const char* path, struct stat* result) {
  return stope_old_lxstat(1, path, result);
}

std::uint32_t new_arc4random() {
  std::uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) std::abort();  // as glibc does
  return number;
}

// glibc has it since 2.30. Older ones wait by the wall clock. Those who wait look at their own clock afterwards.
int new_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  using Wait = int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
  static const auto wait = reinterpret_cast<Wait>(stope_old_lookup(RTLD_DEFAULT, "pthread_cond_clockwait"));
  if (wait != nullptr) return wait(condition, mutex, clock, until);
  timespec now{}, wall{};
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::int64_t left = (until->tv_sec - now.tv_sec) * kSecond + (until->tv_nsec - now.tv_nsec);
  if (left < 0) left = 0;
  const std::int64_t end = wall.tv_nsec + left;
  const timespec wall_end{.tv_sec = wall.tv_sec + end / kSecond, .tv_nsec = end % kSecond};
  return pthread_cond_timedwait(condition, mutex, &wall_end);
}
}

namespace {

// The head of glibc's struct dl_find_object.
struct Found {
  unsigned long long flags;
  ElfW(Addr) map_start, map_end;
  link_map* map;
  ElfW(Addr) eh_frame;
};

struct Search {
  ElfW(Addr) address;
  Found* found;
};

// dl_iterate_phdr's callback: 1 once the library that holds the address is found.
int visit(dl_phdr_info* library, std::size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  ElfW(Addr) frames = 0;
  bool inside = false;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = library->dlpi_phdr[i];
    const ElfW(Addr) begin = library->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_GNU_EH_FRAME) frames = begin;
    if (part.p_type == PT_LOAD && search->address >= begin && search->address - begin < part.p_memsz) {
      inside = true;
      search->found->map_start = begin;
      search->found->map_end = begin + part.p_memsz;
    }
  }
  if (!inside || frames == 0) return 0;
  search->found->eh_frame = frames;
  return 1;
}

}  // namespace

// The unwinder asks where a library has its table of frames. glibc says so since 2.35.
extern "C" int new_find_object(void* address, void* result) {
  using Find = int (*)(void*, void*);
  static const auto find = reinterpret_cast<Find>(stope_old_lookup(RTLD_DEFAULT, "_dl_find_object"));
  if (find != nullptr) return find(address, result);
  auto* found = static_cast<Found*>(result);
  *found = {};
  Search search{.address = reinterpret_cast<ElfW(Addr)>(address), .found = found};
  return dl_iterate_phdr(visit, &search) == 1 ? 0 : -1;
}
#endif
