#include "host/cli/cli.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* Seconds that the run has to come to its end once it was told to. */
enum { GRACE_SECONDS = 3 };

/* A handler has no other way to reach the run. */
static volatile int stop_flag;

static void set_timer(double seconds)
{
    struct itimerval timer = {{0, 0}, {0, 0}};

    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)((seconds - floor(seconds)) * 1e6);
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0)
        timer.it_value.tv_usec = 1;
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* Only what is safe in a handler: a flag, a timer, write and _exit. */
static void on_signal(int signal_number)
{
    static const char text[] = "heddle: stopped while it was busy; nothing was written\n";
    const struct itimerval grace = {{0, 0}, {GRACE_SECONDS, 0}};

    (void)signal_number;
    if (stop_flag) {
        ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);

        (void)ignored;
        _exit(HD_STOPPED);
    }
    stop_flag = 1;
    setitimer(ITIMER_REAL, &grace, NULL);
}

const volatile int *cli_stop_flag(double max_seconds)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGALRM};
    struct sigaction action;
    size_t i;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART; /* a result that is being written is written on */
    sigemptyset(&action.sa_mask);
    for (i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
    if (max_seconds > 0)
        set_timer(max_seconds);
    return &stop_flag;
}

void cli_stop_heeded(void)
{
    const struct itimerval off = {{0, 0}, {0, 0}};

    setitimer(ITIMER_REAL, &off, NULL);
}
