import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SHORT_LEASES } from '#test/support/multi-process-site.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { KEPT_CONNECTIONS, serve } from '#test/support/start-http-server.ts'
import { addBatchCaller } from '../support/batch-of-killed-relays.ts'
import { type RelaySite, startRelaySite } from '../support/relay-site.ts'

const MODEL = 'lab-model'
const CHAT = '/v1/chat/completions'
const MESSAGES = [{ role: 'user', content: 'Hi' }]
const BODY = { model: MODEL, max_tokens: 8, messages: MESSAGES }
const LINE = `${JSON.stringify({ custom_id: 'a', method: 'POST', url: CHAT, body: BODY })}\n`

let site: RelaySite
let provider: Awaited<ReturnType<typeof serve>>
let key: string
/** The names of the files that the provider has, by id. */
const files = new Map<string, string>()
/** True while the provider keeps uploaded files, but does not answer. */
let isSilent = false

beforeAll(async () => {
  const listen: RequestListener = (request, response) => {
    const parts: Buffer[] = []
    request.on('error', () => {})
    response.on('error', () => {})
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => answer(request, response, Buffer.concat(parts).toString()))
  }
  provider = await serve(listen, null, KEPT_CONNECTIONS)
  site = await startRelaySite(SHORT_LEASES)
  key = await addBatchCaller(site, provider, { type: 1, model: MODEL })
}, 300_000)

afterAll(async () => {
  await provider?.close()
  await site?.close()
})

beforeEach(() => {
  isSilent = false
})

function answer({ method, url = '' }: IncomingMessage, response: ServerResponse, form: string) {
  const [path = ''] = url.split('?')
  const id = path.split('/')[3] ?? ''
  if (path.endsWith('/content')) return void response.end(LINE)
  response.setHeader('content-type', 'application/json')
  if (path === '/v1/files' && method === 'POST') {
    const added = `file-${files.size + 1}-of-provider`
    files.set(added, /filename="([^"]*)"/.exec(form)?.[1] ?? '')
    if (!isSilent) response.end(JSON.stringify({ id: added }))
    return
  }
  if (method === 'DELETE') files.delete(id)
  const data = [...files].map(([file, filename]) => ({ id: file, filename, purpose: 'batch' }))
  const list = { object: 'list', data: data.toReversed(), has_more: false }
  response.end(JSON.stringify(path === '/v1/files' ? list : { id, deleted: method === 'DELETE' }))
}

async function upload(relay: ProductProcess): Promise<string> {
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new Blob([LINE]), 'lines.jsonl')
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${relay.url}/v1/files`, { method: 'POST', headers, body: form })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return JSON.parse(text).id
}

/** Makes all uploads that are not recorded half an hour older than they are. */
async function passHalfAnHour(): Promise<void> {
  const client = new Client({ connectionString: site.databaseUrl })
  await client.connect()
  await client.query(`update relay.files set expires_at = expires_at - 1800000
    where upstream_id = ''`)
  await client.query('update relay.batches set submitted_at = submitted_at - 1800000')
  await client.end()
}

/** Kills the relay during an upload, and starts another one half an hour later. */
async function killDuring(relay: ProductProcess, uploading: () => Promise<unknown>) {
  const before = files.size
  isSilent = true
  uploading().catch(() => {})
  await expect.poll(() => files.size).toBe(before + 1)
  await relay.kill()
  isSilent = false
  await passHalfAnHour()
  return site.startRelay()
}

describe('a file that was uploaded to a provider by a relay that is then killed', () => {
  it('is deleted there if it was a caller’s file, and the other files stay', async () => {
    const relay = await site.startRelay()
    const kept = await upload(relay)
    const names = [...files.values()]
    const next = await killDuring(relay, () => upload(relay))
    await expect.poll(() => [...files.values()], { timeout: 120_000 }).toEqual(names)
    const headers = { authorization: `Bearer ${key}` }
    const list = await fetch(`${next.url}/v1/files`, { headers })
    const { data } = (await list.json()) as { readonly data: { readonly id: string }[] }
    expect(data.map(({ id }) => id)).toEqual([kept])
    await next.kill()
  }, 300_000)

  it('is deleted there if it had the requests of a batch, whose quota is released', async () => {
    const relay = await site.startRelay()
    const input = await upload(relay)
    const names = [...files.values()]
    const submission = { input_file_id: input, endpoint: CHAT, completion_window: '24h' }
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const next = await killDuring(relay, () =>
      fetch(`${relay.url}/v1/batches`, {
        method: 'POST',
        headers,
        body: JSON.stringify(submission),
      }),
    )
    await expect.poll(() => [...files.values()], { timeout: 120_000 }).toEqual(names)
    const list = await fetch(`${next.url}/v1/batches`, { headers })
    const { data } = (await list.json()) as { readonly data: { readonly status: string }[] }
    expect(data.map(({ status }) => status)).toEqual(['failed'])
    expect(await next.stop()).toBe(0)
    await site.expectReadModelsToEqualTheFold()
  }, 300_000)
})
