import { afterEach, describe, expect, it } from 'vitest'
import type { CallAdmitted, CallSettled } from '#domain/accounts/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { chat, type RelayRig, relayRig, USER } from './support/relay-rig.ts'

let rig: RelayRig
afterEach(() => rig?.close())

/** Slow enough that fifty streams still run when the last of them is admitted. */
const SLOW = { kind: 'slow', msPerChunk: 200 } as const

const admitted = async () =>
  (await rig.callEvents()).filter(({ type }) => type === 'CallAdmitted') as Recorded<CallAdmitted>[]
const settled = async () =>
  (await rig.callEvents()).filter(({ type }) => type === 'CallSettled') as Recorded<CallSettled>[]

/** Starts streams that are slow to end, and waits until their holds are durable. */
async function callsUnderWay(count: number) {
  const before = (await admitted()).length
  rig.provider.script.push(...Array.from({ length: count }, () => SLOW))
  const answers = Array.from({ length: count }, () => chat(rig, { stream: true }))
  await expect.poll(async () => (await admitted()).length).toBe(before + count)
  return answers
}

/** The bill by hand, from the event alone: every ratio here has at most three decimals. */
function billOf({ price, usage }: CallSettled['data']): number {
  if (price.mode === 'call') throw new Error('these prices are per token')
  const thousandths = (text: string) => Math.round(Number(text) * 1_000)
  const tokens = usage.inputUncached * 1_000 + usage.output * thousandths(price.completion)
  return Math.round((tokens * thousandths(price.model) * thousandths(price.group)) / 1e9)
}

describe('a price that changes while calls run', () => {
  it('each of 100 calls is charged the price at its admission, which its event names', async () => {
    rig = await relayRig()
    const early = await callsUnderWay(50)
    const { length: endedBefore } = await settled()
    await rig.setOption('ModelRatio', { 'sim-small': 12.5 })
    const late = await callsUnderWay(50)
    await rig.setOption('GroupRatio', { default: 7 })
    await rig.setOption('ModelRatio', {})
    const answers = await Promise.all([...early, ...late])
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 100 }, () => 200))
    expect(endedBefore).toBe(0)

    const priceOf = new Map((await admitted()).map(({ data }) => [data.call, data.price]))
    const ends = await settled()
    expect(ends).toHaveLength(100)
    for (const { data } of ends) {
      expect(data.price).toEqual(priceOf.get(data.call))
      expect(data.charge).toBe(billOf(data))
    }
    const by = (model: string) =>
      ends.filter(({ data }) => data.price.mode === 'tokens' && data.price.model === model)
    expect([by('1.25').length, by('12.5').length]).toEqual([50, 50])
    expect(new Set(ends.map(({ data }) => data.price.group))).toEqual(new Set(['1']))
    const spent = ends.reduce((sum, { data }) => sum + BigInt(data.charge), 0n)
    expect(await rig.balance()).toBe(1_000_000_000n - spent)
  })
})

describe('a special ratio of the user’s group', () => {
  it('calls with a token of another group are charged the special ratio', async () => {
    rig = await relayRig()
    await rig.setOption('GroupRatio', { default: 1, vip: 2 })
    await rig.setOption('GroupGroupRatio', { vip: { default: 0.5 } })
    await rig.addUser(9, { group: 'vip' })
    await rig.grant(9, 1_000_000n)
    const key = 'special'.padEnd(48, 'k')
    await rig.addToken(90, 9, key, { group: 'default' })
    const { status } = await chat(rig, {}, { authorization: `Bearer sk-${key}` })
    expect(status).toBe(200)
    const [end] = (await rig.callEvents(9)).filter(({ type }) => type === 'CallSettled')
    const { data } = end as Recorded<CallSettled>
    expect(data.price).toMatchObject({ group: '0.5', userGroup: 'vip' })
    expect(data.charge).toBe(billOf(data))
    await chat(rig)
    const [plain] = await settled()
    expect(plain?.data).toMatchObject({ userId: USER, price: { group: '1' } })
  })
})
