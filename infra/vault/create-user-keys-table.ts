/** The number of partitions. A site with six million users has partitions of 16 MB. */
export const PARTITIONS = 64

/**
 * Locks the former table exclusively. A running backup reads this table until the backup ends. A
 * statement that waits for the backup blocks all later readers, so each wait is short and is
 * repeated.
 */
const LOCK_USER_KEYS = `
      loop
        begin
          set local lock_timeout = '50ms';
          lock table vault.user_keys in access exclusive mode;
          exit;
        exception when lock_not_available then
          perform pg_sleep(0.5);
        end;
      end loop;
      set local lock_timeout = 0;`

/**
 * Creates the table of the users' data keys, and moves the keys of an earlier release into it. The
 * table is divided by the hash of the user's id. After an erasure, only the partition of the user
 * is rewritten (`vacuum-erased-rows.ts`), which takes little time however many users there are. The
 * former table is dropped, together with the bytes of keys that were destroyed earlier.
 *
 * Other processes can read keys while the keys are copied, and wait only while the tables are
 * exchanged. Until the transaction ends, other processes can't write secrets or keys. An erasure
 * writes `vault.secrets` before the keys. `vault.secrets` is therefore locked first. A concurrent
 * erasure then waits for this lock, and holds no lock for which this transaction would wait.
 */
export const USER_KEYS_TABLE = `
  do $$ declare
    former "char" := (select relkind from pg_class where oid = to_regclass('vault.user_keys'));
  begin
    if former = 'p' then return; end if;
    create table vault.new_user_keys (
      user_id int8 primary key,
      kid text not null,
      wrapped_key bytea not null
    ) partition by hash (user_id);
    for remainder in 0 .. ${PARTITIONS - 1} loop
      execute format(
        'create table vault.user_keys_%s partition of vault.new_user_keys
           for values with (modulus ${PARTITIONS}, remainder %s)', remainder, remainder);
    end loop;
    if former is not null then
      lock table vault.secrets in share mode;
      lock table vault.user_keys in share row exclusive mode;
      insert into vault.new_user_keys (user_id, kid, wrapped_key)
        select user_id, kid, wrapped_key from vault.user_keys;
    end if;
    create index new_destroyed_user_keys on vault.new_user_keys (user_id)
      where wrapped_key = '';
    if former is not null then
      ${LOCK_USER_KEYS}
      drop table vault.user_keys;
    end if;
    alter table vault.new_user_keys rename to user_keys;
    alter table vault.user_keys rename constraint new_user_keys_pkey to user_keys_pkey;
    alter index vault.new_destroyed_user_keys rename to destroyed_user_keys;
  end $$;
`
