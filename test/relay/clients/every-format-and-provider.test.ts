import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { onlyEnd, PROVIDER_KEY, relayRig } from '../support/relay-rig.ts'
import { type CallerFormat, FORMATS, MODEL, sendQuestion, textIn } from './caller-formats.ts'
import {
  addFamilyChannel,
  CHARGES,
  FAMILIES,
  type Family,
  providerOfAllFormats,
  SENTENCE,
  TEXT_USAGE,
} from './provider-families.ts'

const HOST = 'internal.example'
const PLANTED =
  `bad key ${PROVIDER_KEY} at https://${HOST}/x, AIzaSySECRETSECRET01, org-SECRET01, ` +
  'secret.person@example.org, projects/secret-project-1, Bearer SECRETTOKEN, 10.9.8.7:8443'
const FOUND = new RegExp(`SECRET|secret|10\\.9\\.8|${HOST}`)
const provider = startedForEach(() => providerOfAllFormats())
// Streams of models that may hide their reasoning are read on this long after their caller left.
const rig = startedForEach(() => relayRig({ deadlines: { readOnStreamMs: 500 } }))

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [MODEL]: 1.25 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4 })
  await rig.setOption('CacheRatio', { [MODEL]: 0.5 })
})

const send = (format: CallerFormat, isStream: boolean, signal?: AbortSignal) =>
  sendQuestion(rig.url, format, isStream, signal)

const balanceBefore = 1_000_000_000n

type Bill = {
  readonly end: string
  readonly charge: number
  readonly usage: { readonly inputUncached: number; readonly output: number }
}

/** Returns the bill of the only call, whose charge must be the price of its usage. */
async function billOf(): Promise<Bill> {
  const bill = (await onlyEnd(rig)).data as Bill
  const { inputUncached, output } = bill.usage
  expect(bill.charge).toBe(Math.round(1.25 * (inputUncached + 4 * output)))
  expect(await rig.balance()).toBe(balanceBefore - BigInt(bill.charge))
  return bill
}

/** The input that Claude's streams report at their start. */
const EARLY_INPUT = TEXT_USAGE.input
/** The most tokens that the gateway counts for the question, if no provider reports its input. */
const OWN_INPUT_MAX = 11

/** Checks the input of a stream that has no last report of its usage. */
function expectInput({ usage }: Bill, { name }: Family): void {
  if (/Anthropic|Bedrock|Claude/.test(name)) return expect(usage.inputUncached).toBe(EARLY_INPUT)
  expect(usage.inputUncached).toBeGreaterThan(0)
  expect(usage.inputUncached).toBeLessThanOrEqual(OWN_INPUT_MAX)
}

describe.each(FORMATS)('a call in the format $name', (format) => {
  describe.each(FAMILIES)('on a channel of $name', (family) => {
    beforeEach(() => addFamilyChannel(rig, family, provider.url, MODEL))

    it('is answered and billed to the unit', async () => {
      const response = await send(format, false)
      const body = await response.text()
      expect([response.status, textIn(body, format)]).toEqual([200, SENTENCE])
      const data = { charge: CHARGES.text, end: 'done', usageSource: 'upstream' }
      expect((await onlyEnd(rig)).data).toMatchObject(data)
      expect(await rig.balance()).toBe(balanceBefore - BigInt(CHARGES.text))
      expect(provider.requests).toHaveLength(1)
    })

    it('gives the same stream where the provider’s packets are split', async () => {
      const whole = await (await send(format, true)).text()
      expect(textIn(whole, format)).toBe(SENTENCE)
      expect(whole).toMatch(format.end)
      const { length } = whole
      for (let at = 1; at < length; at += Math.max(7, Math.floor(length / 8))) {
        provider.splitAt = at
        const split = await (await send(format, true)).text()
        expect(textIn(split, format)).toBe(SENTENCE)
        expect(split).toMatch(format.end)
      }
      const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
      expect(ends).toHaveLength(provider.requests.length)
      for (const { data } of ends) expect(data).toMatchObject({ charge: CHARGES.text, end: 'done' })
    })

    it.each([400, 429, 503])('with status %i of the provider costs nothing', async (status) => {
      provider.fault = { kind: 'status', status, text: PLANTED }
      for (const isStream of [false, true]) {
        const response = await send(format, isStream)
        const body = await response.text()
        expect(response.status).toBe(status)
        expect([...response.headers, body].join()).not.toMatch(FOUND)
      }
      expect(await rig.balance()).toBe(balanceBefore)
      const events = await rig.callEvents()
      expect(events.map(({ type }) => type)).toEqual(
        Array(2).fill(['CallAdmitted', 'CallReleased']).flat(),
      )
      expect(JSON.stringify(events)).not.toMatch(FOUND)
    })

    it('with an error within the stream ends once, without the provider’s secrets', async () => {
      provider.fault = { kind: 'error-event', after: 5, text: PLANTED }
      const body = await (await send(format, true)).text()
      expect(body).toContain('error')
      expect(body).not.toMatch(format.end)
      expect(body).not.toMatch(FOUND)
      const bill = await billOf()
      expect(bill.end).toBe('upstream-error')
      expect(bill.usage.output).toBe(countTokens(textIn(body, format)))
      expect(JSON.stringify(await rig.callEvents())).not.toMatch(FOUND)
    })

    it('with a cut stream is charged for what was delivered', async () => {
      provider.fault = { kind: 'cut', after: 6 }
      const body = await (await send(format, true)).text().catch(() => 'cut')
      expect(body).not.toMatch(format.end)
      const bill = await billOf()
      expect(bill.end).toBe('incomplete')
      expect(bill.usage.output).toBe(countTokens(textIn(body, format)))
      expectInput(bill, family)
    })

    it('whose caller leaves is ended once and charged for what was delivered', async () => {
      provider.fault = { kind: 'stall', after: 6 }
      const leaving = new AbortController()
      const response = await send(format, true, leaving.signal)
      await response.body?.getReader().read()
      leaving.abort()
      await expect.poll(async () => (await rig.callEvents()).at(-1)?.type).toBe('CallSettled')
      const bill = await billOf()
      expect(bill.end).toBe('client-gone')
      expect(bill.usage.output).toBeLessThanOrEqual(countTokens(SENTENCE))
      expectInput(bill, family)
    })
  })
})
