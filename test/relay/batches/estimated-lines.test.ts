import { beforeEach, expect, it } from 'vitest'
import type { CallSettled } from '#domain/accounts/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { NO_USAGE } from '#domain/pricing/usage.ts'
import { otherOfSettled } from '#projections/logs/log-row-details.ts'
import { BatchLedger } from '#relay/batches/batch-ledger.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, relayRig } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const MODEL = 'claude-sonnet-5-5'
const BATCHES = '/v1/messages/batches'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => relayRig({ batchPollEveryMs: 86_400_000 }))

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 14, baseUrl: provider.url, models: [MODEL] })
  await rig.setOption('ModelRatio', { [MODEL]: 2 })
})

let publicId = ''

/** Submits a batch of three lines, and returns the id of its event stream. */
async function submitted(): Promise<string> {
  const body = { id: 'msgbatch_provider1', processing_status: 'in_progress' }
  provider.answers.set(`POST ${BATCHES}`, { body })
  const messages = [{ role: 'user', content: 'Hi' }]
  const requests = ['a', 'b', 'c'].map((custom_id) => ({
    ...{ custom_id, params: { model: MODEL, max_tokens: 64, messages } },
  }))
  const response = await fetch(`${rig.url}${BATCHES}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ requests }),
  })
  expect(response.status).toBe(200)
  publicId = JSON.parse(await response.text()).id
  const [admission] = await rig.callEvents()
  if (admission?.type !== 'CallAdmitted') throw new Error('no admission')
  return admission.data.call
}

type Found = { readonly isEstimated?: boolean; readonly anomaly?: string }

/** Bills the lines and ends the batch. Returns the details of its log row. */
async function logOf(found: readonly Found[]) {
  const batch = await submitted()
  const ledger = new BatchLedger({ actors: rig.core.actors, now: () => Date.now() })
  const usage = { ...NO_USAGE, inputUncached: 10, output: 5 }
  // Each line is billed by its own event, as in a large batch.
  for (const [line, one] of found.entries()) {
    await ledger.bill(batch, [{ line, part: 0, usage, calls: 1, ...one }])
  }
  await ledger.end(batch, 'done')
  const end = (await rig.callEvents()).find(({ type }) => type === 'CallSettled')
  return otherOfSettled((end as CallSettled).data).other
}

it('the log of a batch names how many lines were estimated, and the first anomaly', async () => {
  expect(
    await logOf([
      { isEstimated: false },
      { isEstimated: true, anomaly: 'missing' },
      { isEstimated: false, anomaly: 'absurd' },
    ]),
  ).toMatchObject({
    ...{ usage_source: 'estimated', batch_lines_estimated: 1, batch_lines_billed: 3 },
    anomaly: 'missing',
  })
})

it('the log of a batch names an anomaly of a line that the provider reported', async () => {
  const other = await logOf([{ isEstimated: false, anomaly: 'absurd' }])
  expect(other).toMatchObject({ usage_source: 'upstream', anomaly: 'absurd' })
  expect(other).not.toHaveProperty('batch_lines_estimated')
})

it('the log of a batch without findings names the provider as the source', async () => {
  const other = await logOf([{}, {}, {}])
  expect(other).toMatchObject({ usage_source: 'upstream', batch_lines_billed: 3 })
  expect(other).not.toHaveProperty('anomaly')
  expect(other).not.toHaveProperty('batch_lines_estimated')
})

it('a result without usage is estimated, and one with absurd usage is an anomaly', async () => {
  await submitted()
  const counts = { processing: 0, succeeded: 2, errored: 0, canceled: 0, expired: 0 }
  const times = { created_at: '2026-11-28T00:00:00Z', ended_at: '2026-11-28T01:00:00Z' }
  const described = { ...times, request_counts: counts, results_url: 'https://provider.example' }
  const path = `${BATCHES}/msgbatch_provider1`
  const body = { id: 'msgbatch_provider1', processing_status: 'ended', ...described }
  provider.answers.set(`GET ${path}`, { body })
  const content = [{ type: 'text', text: 'Hello.' }]
  const result = (custom_id: string, usage: object) => {
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: MODEL, content }
    const succeeded = { type: 'succeeded', message: { ...message, ...usage } }
    return `${JSON.stringify({ custom_id, result: succeeded })}\n`
  }
  const absurd = { usage: { input_tokens: 1e12, output_tokens: 5 } }
  const lines = result('a', {}) + result('b', absurd)
  provider.answers.set(`GET ${path}/results`, { body: lines })
  const headers = { authorization: `Bearer sk-${KEY}` }
  expect((await fetch(`${rig.url}${BATCHES}/${publicId}`, { headers })).status).toBe(200)
  // The request waits for the settlement only for a few seconds.
  const settled = async () => (await rig.callEvents()).find(({ type }) => type === 'CallSettled')
  await expect.poll(settled).toBeDefined()
  expect(otherOfSettled(((await settled()) as CallSettled).data).other).toMatchObject({
    ...{ usage_source: 'estimated', batch_lines_estimated: 1, batch_lines_billed: 2 },
    anomaly: 'absurd',
  })
})
