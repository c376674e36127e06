import { ConsoleClient } from './console-client.ts'
import { PASSWORD } from './furnish.ts'

const DOLLAR = 500_000

/** What a campaign leaves behind: codes of every state. Made once; `root` is logged in. */
export async function furnishCodes(root: ConsoleClient): Promise<void> {
  const { total } = await root.must<{ total: number }>('GET', '/api/redemption/?p=0')
  if (total > 0) return
  const make = (fields: Readonly<Record<string, unknown>>) =>
    root.must<string[]>('POST', '/api/redemption/', fields)
  const [used] = await make({ name: 'Spring sale', quota: 5 * DOLLAR, count: 5 })
  const week = Math.floor(Date.now() / 1_000) + 7 * 86_400
  const gift = { is_gift: true, max_uses: 100, valid_until: week }
  const [welcome] = await make({ name: 'Welcome gift', quota: DOLLAR, key: 'WELCOME', ...gift })
  await make({ name: 'Partner trial', quota: 20 * DOLLAR, count: 2 })
  const alice = new ConsoleClient(root.url)
  await alice.logIn('alice', PASSWORD)
  for (const key of [used, welcome]) await alice.must('POST', '/api/user/topup', { key })
  const { items } = await root.must<{ items: { id: number }[] }>('GET', '/api/redemption/?p=0')
  // The newest: a trial that was called off.
  await root.must('PUT', '/api/redemption/batch-disable', { ids: [items[0]?.id] })
}
