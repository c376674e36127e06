import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction } from '#infra/postgres/in-transaction.ts'
import { addUser, type TestProduct, testProduct } from '#test/support/test-product.ts'

const PROGRAM = join(import.meta.dirname, '../../../infra/audit-program/audit-program.ts')

let product: TestProduct

beforeAll(async () => {
  product = await testProduct()
  await addUser(product.root, 'customer', 500_000)
})
afterAll(() => product.close())

const rowsOf = async (text: string): Promise<number | null> =>
  (await product.running.core.pg.query(text)).rowCount
const unfinished = () => rowsOf(`select from pg_namespace where nspname ~ '^read_.*_(next|check)$'`)

/** Starts `replay` against the running site. */
function startReplay() {
  const { databaseUrl, secretKey } = product.running.core.config
  const child = spawn(process.execPath, [PROGRAM, 'replay'], {
    env: {
      ...{ DATABASE_URL: databaseUrl ?? '', LOG_LEVEL: 'silent' },
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      SECRET_KEY: Buffer.from(secretKey ?? []).toString('base64'),
    },
  })
  let errors = ''
  child.stderr.on('data', (bytes: Buffer) => {
    errors += bytes
  })
  const closed = once(child, 'close')
  return { child, closed, errors: () => errors }
}

/**
 * Runs `work` while the program has filled its tables, which contain the name of the customer, and
 * waits for the swap. Returns the exit code and the errors of the program.
 */
async function whileReplaying(work: (replay: ReturnType<typeof startReplay>) => Promise<void>) {
  const replay = startReplay()
  try {
    await inTransaction(product.running.core.pg, async (client) => {
      await client.query('lock table projections.lane in share row exclusive mode')
      const waiting = `select from pg_locks l join pg_class c on c.oid = l.relation
        where c.relname = 'lane' and not l.granted and l.mode = 'ShareRowExclusiveLock'`
      await expect.poll(() => rowsOf(waiting)).toBe(1)
      const name = `select from read_users_next.users where username = 'customer'`
      expect(await rowsOf(name)).toBe(1)
      await work(replay)
    })
    const [status] = await replay.closed
    return { status, errors: replay.errors() }
  } finally {
    replay.child.kill('SIGKILL')
  }
}

describe('a rebuild on the command line that does not end', () => {
  it('says in one line that it was interrupted, and leaves no tables', async () => {
    const { status, errors } = await whileReplaying(async ({ child, errors }) => {
      child.kill('SIGINT')
      await expect.poll(errors).toContain('Interrupted')
    })
    expect([status, errors.trim()]).toEqual([130, 'Interrupted.'])
    expect(await unfinished()).toBe(0)
  })

  it('leaves no tables for longer than the next cleanup if it is killed', async () => {
    await whileReplaying(async ({ child, closed }) => {
      child.kill('SIGKILL')
      await closed
    })
    await expect.poll(unfinished).toBe(0)
  })
})
