/** The number of partitions. A site with six million users has partitions of 16 MB. */
export const PARTITIONS = 64

/**
 * Creates the table of the users' data keys, which is divided by the hash of the user's id, and
 * moves the keys of an earlier release into it. After an erasure, only the partition of the user is
 * rewritten (`remove-erased-rows.ts`), which is short at any number of users. The former table is
 * dropped, and with it the bytes of keys that were destroyed before.
 */
export const USER_KEYS_TABLE = `
  do $$ begin
    if (select relkind from pg_class where oid = to_regclass('vault.user_keys')) = 'r' then
      alter table vault.user_keys rename to former_user_keys;
      alter table vault.former_user_keys rename constraint user_keys_pkey to former_user_keys_pkey;
      drop index if exists vault.destroyed_user_keys;
    end if;
  end $$;
  create table if not exists vault.user_keys (
    user_id int8 primary key,
    kid text not null,
    wrapped_key bytea not null
  ) partition by hash (user_id);
  create index if not exists destroyed_user_keys on vault.user_keys (user_id)
    where wrapped_key = '';
  do $$ begin
    if not exists (select from pg_inherits where inhparent = 'vault.user_keys'::regclass) then
      for remainder in 0 .. ${PARTITIONS - 1} loop
        execute format(
          'create table vault.user_keys_%s partition of vault.user_keys
             for values with (modulus ${PARTITIONS}, remainder %s)', remainder, remainder);
      end loop;
    end if;
    if to_regclass('vault.former_user_keys') is not null then
      insert into vault.user_keys (user_id, kid, wrapped_key)
        select user_id, kid, wrapped_key from vault.former_user_keys;
      drop table vault.former_user_keys;
    end if;
  end $$;
`
