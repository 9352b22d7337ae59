/* The threads that share the parts of a loop, of compiled code or of a kernel.

    run_parts(part, around, rounds, 3, 1)      fills a slot: part, around, rounds, 24 parts; 1 to 23 are available
        part(around, 0, rounds / 24)           the caller runs part 0; each pool thread claims a part and runs it
        claim and run further parts, too
        wait for the threads that have claimed some

   The caller waits only for threads that have claimed a part. If no thread is awake or exists, the caller runs all
   parts itself. There are more parts than threads, so that slow or late threads run fewer parts, and all finish at
   about the same time. A thread that wakes on the caller's processor would only interrupt it, so it moves to another
   one: in virtual machines, Linux may wake it there each time, though another processor is idle. If there is no other,
   the thread goes to sleep again. After a loop that no woken thread joined, callers wake none for a while. There are
   several slots, for Python threads that run loops concurrently; if no slot is free, the caller runs its loop alone.
   An idle thread spins for some microseconds, and then sleeps. Small loops do not wake sleeping threads.

   If a loop takes much longer than its caller has a processor, other programs use the processors. If it is a long one,
   callers then sleep in their loops for a while, and helpers run all parts: as many threads as run a loop, which never
   spin. Linux lets threads that sleep often run soon after they wake, and gives their session a larger share of the
   processors. Else callers run their loops alone for a while.

   The caller claims parts from the front, pool threads from the back. So in consecutive loops the same processor
   computes about the same elements, which are in its cache.

   A slot's tickets are one atomic word: a use count, and the range of available parts. The use count keeps a thread
   from claiming a part of a later loop in the same slot (the ABA problem). All atomic accesses are sequentially
   consistent: a thread is counted as a sleeper before it looks for work a last time, and a caller publishes its work
   before it looks for sleepers. No thread of the pool needs the interpreter lock. */

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define MOST 16          /* threads that run a loop */
#define PIECES 8         /* parts for each thread, if there are enough iterations */
#define SLOTS 4
#define SPINS 30000      /* polls for work before a thread sleeps, about 600 microseconds: to wake it takes up to 100 */
#define POLLS 2000       /* polls for the last part before a caller sleeps */
#define PATIENCE 500000  /* nanoseconds without a processor, beyond half of the own work, that show a busy machine, */
#define ABSENCE 16       /* and how many times as long it counts as busy then: */
#define LONGEST 50000000 /* as so many nanoseconds at most, since a process that was stopped has lost minutes */
#define LONG 200000      /* nanoseconds of work from which helpers run a loop, since to wake them takes a tenth */
#define FRESH 100000     /* nanoseconds for which a reading of a thread's clock, a system call, serves further loops */
#define REST 500000      /* nanoseconds without wakes after one that no thread followed in time: less than SPINS take */

#if defined(__x86_64__) || defined(__i386__)
#define PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define PAUSE() __asm__ __volatile__("isb")
#else
#define PAUSE()
#endif

#ifdef __linux__
#define PROCESSOR() sched_getcpu()
#else
#define PROCESSOR() -1 /* unknown */
#endif

typedef void (*Part)(void *around, int64_t begin, int64_t end);

typedef struct {
    _Alignas(64) _Atomic uint64_t tickets; /* 32 bits of the use count, 16 of the first part, 16 of the end */
    Part part;
    void *around;
    int64_t rounds, parts;
    _Alignas(64) _Atomic int64_t pending; /* parts that are not done; on a cache line of its own */
    _Atomic int is_taken;
} Slot;

typedef struct {
    _Alignas(64) _Atomic int64_t calls; /* which idle threads poll */
    _Alignas(64) _Atomic int sleepers;  /* threads that sleep on `call` */
    _Atomic int started;
    pthread_cond_t call;
    pthread_t threads[MOST];
} Crew;

static struct {
    pthread_mutex_t lock, forking;
    pthread_cond_t done;
    Crew partners, helpers;           /* threads that share a loop with its caller, and that run it alone */
    _Alignas(64) _Atomic int waiting; /* callers that sleep on `done` */
    _Atomic int ends;                 /* whether threads must end, and no new ones start */
    _Atomic int processor;            /* that of the last caller */
    _Atomic int64_t busy, rest;       /* the times until which others use the processors, and callers wake no partner */
    _Atomic int is_for_helpers;       /* whether helpers run the loops while others use the processors */
    Slot slots[SLOTS];
} pool;

static _Thread_local int is_pool_thread;
static _Thread_local struct { int64_t time, work; } seen; /* when the thread looked at its clock, and what that said */

static void run_part(Slot *slot, int64_t number)
{
    slot->part(slot->around, slot->rounds * number / slot->parts, slot->rounds * (number + 1) / slot->parts);
}

static void wake(pthread_cond_t *condition, _Atomic int *sleeping)
{
    if (!atomic_load(sleeping)) return;
    pthread_mutex_lock(&pool.lock);
    pthread_cond_broadcast(condition);
    pthread_mutex_unlock(&pool.lock);
}

static void call(Crew *crew)
{
    atomic_fetch_add(&crew->calls, 1);
    wake(&crew->call, &crew->sleepers);
}

/* Sleep on a condition while a word has the value that was seen. */
static void rest(_Atomic int64_t *word, int64_t seen, pthread_cond_t *condition, _Atomic int *sleeping)
{
    pthread_mutex_lock(&pool.lock);
    atomic_fetch_add(sleeping, 1);
    while (atomic_load(word) == seen) pthread_cond_wait(condition, &pool.lock);
    atomic_fetch_sub(sleeping, 1);
    pthread_mutex_unlock(&pool.lock);
}

/* Run parts of a slot while some are left, and return their number. The thread that runs the last one wakes the threads
   that wait for it. */
static int64_t take(Slot *slot, int from_the_end)
{
    for (int64_t taken = 0;;) {
        uint64_t tickets = atomic_load(&slot->tickets), first = tickets >> 16 & 0xffff, end = tickets & 0xffff;
        if (first == end) return taken;
        if (!atomic_compare_exchange_strong(&slot->tickets, &tickets, from_the_end ? tickets - 1 : tickets + (1 << 16)))
            continue;
        run_part(slot, (int64_t)(from_the_end ? end - 1 : first));
        taken++;
        if (atomic_fetch_sub(&slot->pending, 1) == 1) wake(&pool.done, &pool.waiting);
    }
}

/* Move this thread if it is on the processor of the last caller; return whether it is on another one. */
static int leave_processor_of_caller(void)
{
    int processor = atomic_load(&pool.processor);
    if (processor < 0 || processor != PROCESSOR()) return 1;
#ifdef __linux__
    cpu_set_t allowed, others;
    if (sched_getaffinity(0, sizeof allowed, &allowed)) return 0;
    others = allowed;
    CPU_CLR(processor, &others);
    if (!CPU_COUNT(&others) || sched_setaffinity(0, sizeof others, &others)) return 0;
    sched_setaffinity(0, sizeof allowed, &allowed);
    return 1;
#else
    return 0;
#endif
}

static void *serve(void *given)
{
    Crew *crew = given;
    int spins = crew == &pool.partners;
    is_pool_thread = 1;
    while (!atomic_load(&pool.ends)) {
        int64_t calls = atomic_load(&crew->calls);
        int runs = !spins || leave_processor_of_caller();
        for (int i = 0; runs && i < SLOTS; i++) take(&pool.slots[i], 1);
        for (int i = 0; spins && runs && i < SPINS && atomic_load(&crew->calls) == calls; i++) PAUSE();
        if (atomic_load(&crew->calls) == calls) rest(&crew->calls, calls, &crew->call, &crew->sleepers);
    }
    return NULL;
}

/* Start threads up to this number; fewer if the system refuses, or while the process forks. They get no signals. */
static void start_threads(Crew *crew, int wanted)
{
    sigset_t all, before;
    if (atomic_load(&crew->started) >= wanted) return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&pool.lock);
    while (!pool.ends && crew->started < wanted && !pthread_create(&crew->threads[crew->started], NULL, serve, crew))
        crew->started++;
    pthread_mutex_unlock(&pool.lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int64_t read_clock(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Fill a free slot; return NULL if there is none. Parts before the first are the caller's. */
static Slot *fill_slot(Part part, void *around, int64_t rounds, int64_t threads, int64_t first)
{
    for (Slot *slot = pool.slots; slot < pool.slots + SLOTS; slot++) {
        int no = 0;
        if (!atomic_compare_exchange_strong(&slot->is_taken, &no, 1)) continue;
        int64_t parts = threads * PIECES < rounds ? threads * PIECES : rounds;
        if (parts < 1) parts = 1;
        slot->part = part, slot->around = around, slot->rounds = rounds, slot->parts = parts;
        atomic_store(&slot->pending, parts - first);
        uint64_t uses = (atomic_load(&slot->tickets) >> 32) + 1;
        atomic_store(&slot->tickets, uses << 32 | (uint64_t)first << 16 | (uint64_t)parts);
        return slot;
    }
    return NULL;
}

static void wait_for_parts(Slot *slot)
{
    int64_t pending;
    while ((pending = atomic_load(&slot->pending))) rest(&slot->pending, pending, &pool.done, &pool.waiting);
    atomic_store(&slot->is_taken, 0);
}

/* Sleep while helpers run all parts. Without helpers, the caller runs them; see also `end_threads` in
   native_forks.h. */
static void delegate(Slot *slot, int64_t threads)
{
    start_threads(&pool.helpers, (int)threads);
    call(&pool.helpers);
    if (!atomic_load(&pool.helpers.started)) take(slot, 0);
    wait_for_parts(slot);
}

/* Run parts while partners run others, and wait for them. */
static void share_parts(Slot *slot, int64_t threads, int64_t wakes, int64_t start)
{
    Crew *crew = &pool.partners;
    atomic_store(&pool.processor, PROCESSOR());
    start_threads(crew, (int)threads - 1);
    atomic_fetch_add(&crew->calls, 1);
    wakes = wakes && atomic_load(&crew->sleepers) && start >= atomic_load(&pool.rest);
    if (wakes) wake(&crew->call, &crew->sleepers);
    run_part(slot, 0);
    if (take(slot, 0) == slot->parts - 1 && wakes) atomic_store(&pool.rest, start + REST);
    for (int i = 0; i < POLLS && atomic_load(&slot->pending); i++) PAUSE();
    wait_for_parts(slot);
}

/* Learn from a loop that took long without a processor, since the time when the thread last looked at its clock. */
static void look_for_neighbors(int64_t start)
{
    int64_t end = read_clock(CLOCK_MONOTONIC), work, lost;
    if (end - start < PATIENCE) return;
    work = read_clock(CLOCK_THREAD_CPUTIME_ID) - seen.work;
    lost = end - seen.time - work;
    seen.time = 0; /* the next loop reads the clock again */
    if (lost < work / 2 + PATIENCE) return;
    atomic_store(&pool.is_for_helpers, work >= LONG);
    atomic_store(&pool.busy, end + ABSENCE * (lost < LONGEST ? lost : LONGEST));
}

/* Run iterations on this number of threads, the calling one included. `wakes` says whether sleeping threads join. */
static void run_parts(Part part, void *around, int64_t rounds, int64_t threads, int64_t wakes)
{
    int64_t start = read_clock(CLOCK_MONOTONIC);
    int is_busy = start < atomic_load(&pool.busy);
    if (threads > MOST) threads = MOST;
    /* A thread of the pool waits for no helper, which might wait for it. */
    int is_alone = is_busy && (!atomic_load(&pool.is_for_helpers) || is_pool_thread || !wakes || threads < 2);
    Slot *slot = is_alone ? NULL : fill_slot(part, around, rounds, threads, !is_busy);
    if (slot == NULL) part(around, 0, rounds);
    else if (is_busy) delegate(slot, threads);
    else {
        if (start - seen.time > FRESH) seen.time = start, seen.work = read_clock(CLOCK_THREAD_CPUTIME_ID);
        share_parts(slot, threads, wakes, start);
        look_for_neighbors(start);
    }
}
