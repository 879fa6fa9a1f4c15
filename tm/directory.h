/* What the directories share. For the files of tm/ only. */
#ifndef HD_TM_DIRECTORY_H
#define HD_TM_DIRECTORY_H

#include "tm/versions.h"

/* Accesses of a directory: of its record (read, write), of data, of the backup. */
enum {
    TM_DIR_LOST = 1,        /* the record is read */
    TM_DIR_LOAD = 2,        /* and the data */
    TM_DIR_LOAD_FIRST = 3,  /* and the record is written */
    TM_DIR_STORE = 2,       /* record read, data written */
    TM_DIR_ATOMIC = 3,      /* data read between */
    TM_DIR_STORE_FIRST = 5, /* record and data read, backup, record and data written */
};

/* A store or atomic of a word that is free, or the work-item's own. */
static inline void tm_directory_store(struct tm_work *x, struct tm_record r, unsigned lane,
                                      unsigned k)
{
    bool again = r.flags & TM_M;

    x->todo[k][lane] = again ? 0 : TM_TODO_BACKUP;
    tm_book(x, !again                      ? TM_DIR_STORE_FIRST
               : x->ref->kind == TM_ATOMIC ? TM_DIR_ATOMIC
                                           : TM_DIR_STORE);
}

#endif
