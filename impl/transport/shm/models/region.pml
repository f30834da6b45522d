/* Files under one name, their owners, and who clears away what dead owners left: impl/transport/shm/region.cc.
 *
 * Models create_file, remove_if_dead and OwnRegion::remove, by processes that do so again and again and may be killed
 * at any point. There is no shared memory here: each step is a system call.
 *
 *     here              in the code
 *     name              which file /dev/shm/selvage-shm-... leads to
 *     file[p]           the descriptor of process p, as the file behind it
 *     owner_lock[f]     who holds kOwnerLock of file f; sweep_lock[f]: kSweepLock
 *     maker[f]          who made file f, while it has it open
 *     living[p]         create_file answered 0 to process p, which has neither begun to remove its file nor died
 *
 * Abstracted: a retry follows at once, and kTries is not counted. A file whose name and descriptors are gone is a new
 * one when it is made again. Killing a process closes its descriptor, and so drops its locks. Processes of other users
 * and files that are none of this library's are left out.
 *
 * Property: a living owner's file is under the name, so no two live under it, and nobody but the owner takes it away.
 * -FI_EADDRINUSE is answered only if the process that made the file holds the owner's lock: a process that looks
 * whether the owner is dead is not taken for it.
 *
 * Mutations: SWEEP_UNLINKS_ANY (remove_if_dead does not look whether the file whose lock it has is still under the
 * name), CREATE_TAKES_ANY (create_file does not), NO_SWEEP_LOCK. The sweep lock matters for the second property alone:
 * NO_SWEEP_LOCK with ANY_IN_USE, which leaves that unchecked, is without error.
 */
#define CREATORS 2
#define SWEEPERS 1
#define PROCESSES (CREATORS + SWEEPERS)
#define FILES (PROCESSES + 1)
#define NONE 255

byte name = 0;  /* a dead owner's file is there */
byte file[PROCESSES] = NONE;
byte owner_lock[FILES] = NONE;
byte sweep_lock[FILES] = NONE;
byte maker[FILES] = NONE;
byte living[CREATORS] = NONE;
chan kill = [0] of { byte };  /* a process dies */
byte i, fresh;  /* zero between steps */

inline close(p) {
    d_step {
        if
        :: file[p] != NONE ->
            if
            :: owner_lock[file[p]] == p -> owner_lock[file[p]] = NONE
            :: else -> skip
            fi;
            if
            :: sweep_lock[file[p]] == p -> sweep_lock[file[p]] = NONE
            :: else -> skip
            fi;
            if
            :: maker[file[p]] == p -> maker[file[p]] = NONE
            :: else -> skip
            fi
        :: else -> skip
        fi;
        file[p] = NONE
    }
}

/* The name is taken away by process p, whatever it leads to. */
inline unlink(p) {
    d_step {
        i = 0;
        do
        :: i < CREATORS ->
            assert(i == p || living[i] == NONE || living[i] != name);
            i++
        :: else -> break
        od;
        i = 0;
        name = NONE
    }
}

/* A file that nothing leads to. */
inline create_new(p) {
    d_step {
        name == NONE ->
        do
        :: fresh < FILES ->
            used = name == fresh;
            i = 0;
            do
            :: i < PROCESSES ->
                used = used || file[i] == fresh;
                i++
            :: else -> break
            od;
            if
            :: used -> fresh++
            :: else -> break
            fi
        :: else -> break
        od;
        assert(fresh < FILES);
        name = fresh;
        file[p] = fresh;
        maker[fresh] = p;
        i = 0;
        used = false;
        fresh = 0
    }
}

#define GONE 0
#define LIVES 1
#define UNKNOWN 2

#ifdef ANY_IN_USE
#define ASSERT_IN_USE(condition)
#else
#define ASSERT_IN_USE(condition) assert(condition)
#endif

inline remove_if_dead(p) {
    file[p] = name;
    if
    :: file[p] == NONE -> answer = GONE
    :: else ->
#ifndef NO_SWEEP_LOCK
        if
        :: atomic { sweep_lock[file[p]] != NONE -> answer = UNKNOWN }
        :: atomic { sweep_lock[file[p]] == NONE -> sweep_lock[file[p]] = p }
#endif
            if
            :: atomic {
                owner_lock[file[p]] != NONE ->
                answer = LIVES;
                ASSERT_IN_USE(owner_lock[file[p]] == maker[file[p]])
            }
            :: atomic { owner_lock[file[p]] == NONE -> owner_lock[file[p]] = p }
                answer = GONE;
                if
#ifdef SWEEP_UNLINKS_ANY
                :: unlink(p)
#else
                :: name == file[p] -> unlink(p)
                :: name != file[p] -> skip
#endif
                fi
            fi
#ifndef NO_SWEEP_LOCK
        fi
#endif
    fi;
    close(p)
}

active [CREATORS] proctype creator() {
    byte answer;
    bool used;

again:
    {
        do
        ::  /* create_file */
            do
            :: create_new(_pid);
                if
                :: atomic { owner_lock[file[_pid]] == NONE -> owner_lock[file[_pid]] = _pid }
                    if
#ifndef CREATE_TAKES_ANY
                    :: name != file[_pid] -> skip
                    :: name == file[_pid] -> break
#else
                    :: skip -> break
#endif
                    fi
                :: owner_lock[file[_pid]] != NONE -> skip
                fi;
                close(_pid)
            :: name != NONE ->
                remove_if_dead(_pid);
                if
                :: answer == LIVES -> break
                :: else -> skip
                fi
            od;
            answer = 0;
            d_step {
                living[_pid] = file[_pid];
                assert(living[_pid] == NONE || living[_pid] == name)
            };
            /* OwnRegion::remove */
            if
            :: file[_pid] != NONE ->
                assert(name == file[_pid]);
                living[_pid] = NONE;
                if
                :: name == file[_pid] -> unlink(_pid)
                fi;
                close(_pid)
            :: else -> skip
            fi
        od
    } unless {
        atomic {
            kill?eval(_pid) ->
            living[_pid] = NONE;
            answer = 0;
            close(_pid)
        }
    };
    goto again
}

active [SWEEPERS] proctype sweeper() {
    byte answer;

again:
    {
        do
        ::  remove_if_dead(_pid);
            answer = 0
        od
    } unless {
        atomic {
            kill?eval(_pid) ->
            answer = 0;
            close(_pid)
        }
    };
    goto again
}

active proctype killer() {
    do
    :: kill!0
    :: kill!1
    :: kill!2
    od
}
