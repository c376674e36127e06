import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { startEventStoreDbServer } from '#test/support/event-store-db/server.ts'
import {
  FAST_JOINT_APPEND_RECOVERY,
  type Site,
  startSite,
} from '#test/support/multi-process-site.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { PASSWORD, setUpSite } from '#test/support/test-product.ts'

const ROLES = 'write-api,read-api,projections'
const QUOTA = 700

type Answer = { readonly success: boolean; readonly code?: string }

/** Retries after a 503 of a busy server, as any client would. */
async function redeem(product: ProductProcess, by: ConsoleClient, key: string): Promise<Answer> {
  const answer = await fetch(`${product.url}/api/user/topup`, {
    method: 'POST',
    headers: { ...by.sessionHeaders, 'content-type': 'application/json' },
    body: JSON.stringify({ key }),
  })
  return answer.status === 503 ? redeem(product, by, key) : answer.json()
}

async function rootOf({ url }: ProductProcess): Promise<ConsoleClient> {
  const root = await setUpSite(url)
  return root
}

async function codeOf(root: ConsoleClient, body: object = {}): Promise<string> {
  const terms = { name: 'spring', quota: QUOTA, ...body }
  const [key = ''] = await root.must<string[]>('POST', '/api/redemption/', terms)
  return key
}

const textOf = (data: Uint8Array): string => Buffer.from(data).toString()

const balanceOf = async (client: ConsoleClient): Promise<number> =>
  (await client.must<{ quota: number }>('GET', '/api/user/self')).quota

describe('two processes on one Postgres', () => {
  let site: Site
  let processes: [ProductProcess, ProductProcess]
  let root: ConsoleClient
  const users: ConsoleClient[] = []

  beforeAll(async () => {
    site = await startSite()
    processes = await Promise.all([site.start(ROLES), site.start(ROLES)])
    root = await rootOf(processes[0])
    const made = Array.from({ length: 12 }, (_, n) => ({
      username: `user${n}`,
      password: PASSWORD,
    }))
    await Promise.all(made.map((user) => root.must('POST', '/api/user/', user)))
    // The logins are sequential. An unfinished attempt counts as wrong, and an address has ten of
    // these.
    for (const [n, { username }] of made.entries()) {
      users[n] = new ConsoleClient(processes[1].url)
      await users[n].logIn(username, PASSWORD)
    }
  })
  afterAll(() => site?.close(), 60_000)

  /**
   * Redeems the key as each user in both processes at once. Returns the responses and each user's
   * gain.
   */
  async function race(key: string) {
    const before = await Promise.all(users.map(balanceOf))
    const answers = await Promise.all(
      users.flatMap((user) => processes.map((each) => redeem(each, user, key))),
    )
    const gained = async (): Promise<number[]> => {
      const after = await Promise.all(users.map(balanceOf))
      return after.map((balance, at) => balance - (before[at] ?? 0)).toSorted()
    }
    return { answers, gained }
  }

  const zeros = (count: number): number[] => Array(count).fill(0)

  it('let one of twelve users redeem a code, and credit it once', async () => {
    const { answers, gained } = await race(await codeOf(root))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([undefined, 'CodeInvalid']))
    await expect.poll(gained).toEqual([...zeros(11), QUOTA])
  })

  it('create the codes of requests with one Idempotency-Key once', async () => {
    const body = JSON.stringify({ name: 'once', quota: QUOTA, count: 3 })
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'order 17' }
    const asked = Array.from({ length: 20 }, async (_, n) => {
      const { url } = processes[n % 2] as ProductProcess
      const sent = { method: 'POST', headers: { ...root.sessionHeaders, ...headers }, body }
      return (await fetch(`${url}/api/redemption/`, sent)).json()
    })
    const answers = await Promise.all(asked)
    expect(new Set(answers.map(({ data }) => JSON.stringify(data))).size).toBe(1)
    const count = '/api/redemption/count-by-name?name=once'
    await expect.poll(() => root.must<number>('GET', count)).toBe(3)
    await root.must('DELETE', '/api/redemption/delete-by-name?name=once')
  })

  it('let five users redeem a gift code with five uses, each user once', async () => {
    const { answers, gained } = await race(await codeOf(root, { is_gift: true, max_uses: 5 }))
    expect(answers.filter(({ success }) => success)).toHaveLength(5)
    await expect.poll(gained).toEqual([...zeros(7), ...Array(5).fill(QUOTA)])
    const { items } = await root.must<{ items: { used_count: number }[] }>(
      'GET',
      '/api/redemption/?p=0&page_size=10',
    )
    expect(items.map(({ used_count }) => used_count)).toEqual([5, 1])
  })
})

it('on EventStoreDB, a process killed between decision and credit credits once later', async () => {
  const [store, site] = [await startEventStoreDbServer(), await startSite()]
  try {
    const one = await site.start(ROLES, {
      ...{
        EVENT_STORE: 'eventstoredb',
        EVENTSTORE_URL: store.url,
        NODE_OPTIONS: FAST_JOINT_APPEND_RECOVERY,
      },
    })
    const root = await rootOf(one)
    const before = await balanceOf(root)
    const key = await codeOf(root, { is_gift: true, max_uses: -1 })
    const written = (type: string, part = ''): number =>
      store.log
        .all()
        .filter(({ type: found, data }) => found === type && textOf(data).includes(part)).length
    const credits = () => written('QuotaGranted', '"redemption-1"')

    store.loseAppends('account-1')
    const torn = redeem(one, root, key).catch(() => 'cut off')
    await expect.poll(() => written('CodeRedeemed')).toBe(1)
    await one.kill()
    expect(await torn).toBe('cut off')
    store.loseAppends(null)
    expect(credits(), 'the kill came too late').toBe(0)
    expect(written('CodeRedeemed')).toBe(1)

    await one.start()
    const again = () => Promise.all([1, 2, 3, 4].map(() => redeem(one, root, key)))
    const refused = Array(4).fill('CodeRedeemedAlready')
    expect((await again()).map(({ code }) => code)).toEqual(refused)
    await expect.poll(() => balanceOf(root)).toBe(before + QUOTA)
    expect((await again()).map(({ code }) => code)).toEqual(refused)
    expect([written('CodeRedeemed'), credits()]).toEqual([1, 1])
    expect(await balanceOf(root)).toBe(before + QUOTA)
  } finally {
    await site.close()
    await store.stop()
  }
})
