/* Forks of a process with a pool: its threads end before a fork, and start again on demand.

    parent    end_threads, fork, allow_threads      the next loop starts its threads again
    child     begin_pool                            a new pool, without threads

   A child has no thread but the one that forked. */

#include "native_pool.h"

static void begin_pool(void)
{
    memset(&pool, 0, sizeof pool);
    pthread_mutex_init(&pool.lock, NULL);
    pthread_mutex_init(&pool.forking, NULL);
    pthread_cond_init(&pool.partners.call, NULL);
    pthread_cond_init(&pool.helpers.call, NULL);
    pthread_cond_init(&pool.done, NULL);
}

static void end_crew(Crew *crew)
{
    call(crew);
    for (int i = 0; i < crew->started; i++) pthread_join(crew->threads[i], NULL);
    crew->started = 0;
}

/* End all threads and wait for them. In the meantime, callers do all work themselves. Helpers may have ended without
   the parts of a caller that sleeps: no thread but this one is left to run them. */
static void end_threads(void)
{
    pthread_mutex_lock(&pool.forking);
    pthread_mutex_lock(&pool.lock);
    pool.ends = 1;
    pthread_mutex_unlock(&pool.lock);
    end_crew(&pool.partners);
    end_crew(&pool.helpers);
    for (int i = 0; i < SLOTS; i++) take(&pool.slots[i], 1);
}

static void allow_threads(void)
{
    pool.ends = 0;
    pthread_mutex_unlock(&pool.forking);
}

static void begin_once(void)
{
    begin_pool();
    pthread_atfork(end_threads, allow_threads, begin_pool);
}
