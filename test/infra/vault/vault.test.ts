import { randomBytes } from 'node:crypto'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Sealed } from '#domain/shared/event.ts'
import { WrongSecretKey } from '#infra/vault/keys-derived-from-secret-key.ts'
import type { Vault } from '#infra/vault/port.ts'
import { createVault } from '#infra/vault/vault.ts'
import { testDatabase } from '#test/support/test-database.ts'

const secretKey = randomBytes(32)
let database: Awaited<ReturnType<typeof testDatabase>>
let pg: Pool
let vault: Vault

beforeAll(async () => {
  database = await testDatabase()
  pg = new Pool({ connectionString: database.url, max: 4 })
  vault = await createVault({ pg, secretKey })
})

afterAll(async () => {
  await pg.end()
  await database.drop()
})

const dump = async (): Promise<string> => {
  const { rows } = await pg.query(
    `select s.*, encode(sealed, 'escape') as e, encode(wrapped_key, 'escape') as w
     from vault.secrets s`,
  )
  return JSON.stringify(rows)
}

describe('sealed bytes', () => {
  it('have only nonce and tag beside their length, and end with the key of the user', async () => {
    const bytes = randomBytes(1_000)
    const sealed = await vault.sealBytes(31, bytes)
    expect(sealed).toHaveLength(bytes.length + 28)
    expect(sealed.includes(bytes.subarray(0, 16))).toBe(false)
    expect(await vault.openBytes(31, sealed)).toEqual(bytes)
    await vault.sealBytes(32, bytes)
    await expect(vault.openBytes(32, sealed)).rejects.toThrow()
    await vault.destroyUser(31)
    expect(await vault.openBytes(31, sealed)).toBeNull()
    expect(await vault.openBytes(31, await vault.sealBytes(31, bytes))).toBeNull()
  })
})

describe('secrets', () => {
  it('are returned to their owner, also after a restart, and are stored unreadable', async () => {
    const ref = await vault.putSecret('channel-key', 'channel:1', 'sk-canary-provider-key-密')
    const again = await createVault({ pg, secretKey })
    expect(await again.getSecret('channel-key', 'channel:1', ref)).toBe('sk-canary-provider-key-密')
    expect(await dump()).not.toContain('canary')
  })

  it('are refused to another owner or purpose, without the secret in the error', async () => {
    const ref = await vault.putSecret('channel-key', 'channel:2', 'canary-two')
    const attempts = [
      vault.getSecret('channel-key', 'channel:3', ref),
      vault.getSecret('token-key', 'channel:2', ref),
      vault.getSecret('channel-key', 'channel:2', 'no-such-ref'),
    ]
    for (const outcome of await Promise.allSettled(attempts)) {
      expect(outcome.status).toBe('rejected')
      expect(String((outcome as PromiseRejectedResult).reason)).not.toContain('canary')
    }
  })

  it('cannot be moved to another record by a user who can write to the table', async () => {
    const ref = await vault.putSecret('channel-key', 'channel:4', 'first')
    await pg.query(`update vault.secrets set owner = 'channel:5' where ref = $1`, [ref])
    await expect(vault.getSecret('channel-key', 'channel:5', ref)).rejects.toThrow()
  })

  it('are read many at once; missing secrets and those of other owners are absent', async () => {
    const one = await vault.putSecret('token-key', 'token:1', 'one')
    const two = await vault.putSecret('token-key', 'token:2', 'two')
    const found = await vault.getSecrets('token-key', [
      { owner: 'token:1', ref: one },
      { owner: 'token:9', ref: two },
      { owner: 'token:3', ref: 'gone' },
    ])
    expect([...found]).toEqual([[one, 'one']])
  })

  it('are absent after they are deleted', async () => {
    const ref = await vault.putSecret('option', 'option:x', 'short-lived')
    await vault.deleteSecret(ref)
    await expect(vault.getSecret('option', 'option:x', ref)).rejects.toThrow()
  })
})

describe('the secret key', () => {
  it('is recognised as wrong at the start, by an error that names the variable', async () => {
    const start = createVault({ pg, secretKey: randomBytes(32) })
    await expect(start).rejects.toThrow(WrongSecretKey)
    await expect(createVault({ pg, secretKey: randomBytes(32) })).rejects.toThrow(/SECRET_KEY/)
  })

  it('is part of every hash: the same text has another hash for each purpose and key', async () => {
    const hash = vault.keyedHash('username', 'root')
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    expect(vault.keyedHash('username', 'root')).toBe(hash)
    expect(vault.keyedHash('token-key', 'root')).not.toBe(hash)
  })
})

describe('sealed texts', () => {
  it('can be opened for their user only, and differ each time', async () => {
    const [one, two] = await Promise.all([vault.seal(7, '张三'), vault.seal(7, '张三')])
    expect(one).not.toBe(two)
    expect(await vault.open(7, one)).toBe('张三')
    expect(await vault.open(7, two)).toBe('张三')
    await vault.seal(8, 'other')
    await expect(vault.open(8, one)).rejects.toThrow()
  })

  it('share one data key when fifty first uses come at once', async () => {
    const sealed = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => (await freshVault(n)).seal(50, `text ${n}`)),
    )
    const opened = await Promise.all(sealed.map((text) => vault.open(50, text)))
    expect(opened).toEqual(Array.from({ length: 50 }, (_, n) => `text ${n}`))
  })

  it('cannot be read after the user’s data key is destroyed', async () => {
    const sealed: Sealed = await vault.seal(60, 'forget me')
    await pg.query('delete from vault.user_keys where user_id = 60')
    const later = await createVault({ pg, secretKey })
    expect(await later.open(60, sealed)).toBeNull()
  })
})

describe('the keys of an earlier release', () => {
  /** Puts the keys back into the table of an earlier release, which has no partitions. */
  const moveBack = () =>
    pg.query(`
      create table vault.plain_user_keys (like vault.user_keys including all);
      insert into vault.plain_user_keys select * from vault.user_keys;
      drop table vault.user_keys;
      alter table vault.plain_user_keys rename to user_keys;
      alter table vault.user_keys rename constraint plain_user_keys_pkey to user_keys_pkey;
      alter index vault.plain_user_keys_user_id_idx rename to destroyed_user_keys`)

  it('are moved into partitions at the next start, destroyed ones included', async () => {
    const [kept, erased] = [await vault.seal(75, 'keep me'), await vault.seal(76, 'forget me')]
    await vault.destroyUser(76)
    await moveBack()
    // Processes that start at the same time wait for each other.
    const started = await Promise.all([1, 2, 3].map(() => createVault({ pg, secretKey })))
    for (const later of started) {
      expect(await later.open(75, kept)).toBe('keep me')
      expect(await later.open(76, erased)).toBeNull()
    }
    const { rows } = await pg.query(
      `select (select count(*)::int from pg_inherits
         where inhparent = 'vault.user_keys'::regclass) as partitions,
       to_regclass('vault.user_keys_pkey') is not null as has_key,
       to_regclass('vault.destroyed_user_keys') is not null as has_index,
       to_regclass('vault.new_user_keys') is null as is_renamed`,
    )
    const expected = { partitions: 64, has_key: true, has_index: true, is_renamed: true }
    expect(rows).toEqual([expected])
  })

  it('are read while the move waits for the end of a backup', async () => {
    const kept = await vault.seal(80, 'keep me')
    await moveBack()
    const backup = await pg.connect()
    const others = new Pool({ connectionString: database.url, max: 4 })
    try {
      await backup.query('begin; lock table vault.user_keys in access share mode')
      const moving = createVault({ pg: others, secretKey })
      const pauses = `select from pg_stat_activity where wait_event = 'PgSleep'
        and datname = current_database()`
      await expect.poll(async () => (await pg.query(pauses)).rowCount).toBe(1)
      // A reader waits for a moment at most, although it comes after the statement of the move.
      const read = 'select from vault.user_keys where user_id = 80'
      for (let n = 0; n < 50; n += 1) expect((await pg.query(read)).rowCount).toBe(1)
      const isWaiting = `select from pg_locks where not granted
        and relation = 'vault.user_keys'::regclass and mode = 'AccessExclusiveLock'`
      await expect.poll(async () => (await pg.query(isWaiting)).rowCount, { interval: 5 }).toBe(1)
      expect((await pg.query(read)).rowCount).toBe(1)
      await backup.query('rollback')
      expect(await (await moving).open(80, kept)).toBe('keep me')
    } finally {
      backup.release(true)
      await others.end()
    }
  })

  it('are read while they are moved, and keys that are written meanwhile are kept', async () => {
    const kept = await vault.seal(77, 'keep me')
    const erased = await vault.seal(78, 'forget me')
    const reader = await createVault({ pg, secretKey })
    await moveBack()
    const holder = await pg.connect()
    const others = new Pool({ connectionString: database.url, max: 4 })
    try {
      // The move waits when all keys are copied, immediately before the tables are exchanged.
      await holder.query('select pg_advisory_lock(17)')
      await pg.query(`
        create function public.wait_after_copy() returns event_trigger language plpgsql as
          $$ begin perform pg_advisory_xact_lock_shared(17); end $$;
        create event trigger after_copy on ddl_command_start when tag in ('CREATE INDEX')
          execute function public.wait_after_copy()`)
      const moving = createVault({ pg: others, secretKey })
      const waiting = async () =>
        (await pg.query(`select from pg_locks where locktype = 'advisory' and not granted`))
          .rowCount
      await expect.poll(waiting).toBe(1)
      expect(await reader.open(77, kept)).toBe('keep me')
      const sealing = vault.seal(79, 'a new key')
      const destroying = vault.destroyUser(78)
      await holder.query('select pg_advisory_unlock(17)')
      const moved = await moving
      await destroying
      expect(await moved.open(79, await sealing)).toBe('a new key')
      expect(await moved.open(77, kept)).toBe('keep me')
      expect(await moved.open(78, erased)).toBeNull()
      expect(await reader.open(78, erased)).toBeNull()
    } finally {
      holder.release(true)
      await pg.query(`drop event trigger if exists after_copy`)
      await others.end()
    }
  })
})

it('a start that finds all tables does not wait for writers, nor do they wait for it', async () => {
  const writer = await pg.connect()
  try {
    const { rows } = await pg.query<{ name: string }>(
      `select oid::regclass as name from pg_class
       where relnamespace = 'vault'::regnamespace and relkind in ('r', 'p')`,
    )
    const tables = rows.map(({ name }) => name)
    await writer.query(`begin; lock table ${tables.join(', ')} in row exclusive mode`)
    let isStarted = false
    const starting = createVault({ pg, secretKey }).then(() => {
      isStarted = true
    })
    await expect.poll(() => isStarted).toBe(true)
    await starting
  } finally {
    await writer.query('rollback')
    writer.release()
  }
})

describe('a data key that one process destroys', () => {
  it('opens no text in another process that has cached it', async () => {
    const other = await createVault({ pg, secretKey })
    for (const userId of [70, 71]) {
      const sealed = await vault.seal(userId, 'forget me')
      const kept = await vault.seal(72, 'keep me')
      expect(await other.open(userId, sealed)).toBe('forget me')
      await vault.destroyUser(userId)
      expect(await other.open(userId, sealed)).toBeNull()
      expect(await vault.open(userId, sealed)).toBeNull()
      expect(await other.open(72, kept)).toBe('keep me')
    }
  })

  it('opens no text although it was being read from the database meanwhile', async () => {
    const sealed = await vault.seal(80, 'forget me')
    const slow = await createVault({ pg, secretKey })
    const opening = Array.from({ length: 50 }, () => slow.open(80, sealed))
    await vault.destroyUser(80)
    await Promise.all(opening)
    expect(await slow.open(80, sealed)).toBeNull()
  })

  it('is found destroyed after the database could not be asked for a while', async () => {
    const failing = { isDown: false }
    const query = ((...statement: Parameters<Pool['query']>) =>
      failing.isDown ? Promise.reject(new Error('down')) : pg.query(...statement)) as Pool['query']
    const other = await createVault({ pg: Object.assign(Object.create(pg), { query }), secretKey })
    const sealed = await vault.seal(90, 'forget me')
    expect(await other.open(90, sealed)).toBe('forget me')
    failing.isDown = true
    await vault.destroyUser(90)
    await expect(other.open(90, sealed)).rejects.toThrow('down')
    failing.isDown = false
    expect(await other.open(90, sealed)).toBeNull()
  })
})

/** The vaults of five simulated processes, whose caches start with different contents. */
const vaults: Promise<Vault>[] = []
function freshVault(n: number): Promise<Vault> {
  vaults[n % 5] ??= createVault({ pg, secretKey })
  return vaults[n % 5] as Promise<Vault>
}
