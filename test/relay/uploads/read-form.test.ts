import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isRelayError, type RelayError } from '#relay/canonical/relay-error.ts'
import { BodyMemory } from '#relay/limits/body-memory.ts'
import type { FormRules } from '#relay/uploads/form-field-types.ts'
import { type ReceivedForm, readForm } from '#relay/uploads/read-form.ts'
import { SpoolFolder } from '#relay/uploads/spool-folder.ts'
import { providerForm } from '#relay/uploads/write-form-for-provider.ts'
import { serve } from '#test/support/start-http-server.ts'

const RULES: FormRules = {
  files: ['file', 'image[]'],
  numbers: ['n'],
  flags: ['stream'],
  texts: ['model', 'prompt'],
}
const OWNER = { userId: 7, bytesMax: 64 * 1024 * 1024 }

let folder: string
let uploads: SpoolFolder
let bodyMemory: BodyMemory
let site: { readonly url: string; readonly close: () => Promise<void> }
let outcome: ReceivedForm | RelayError | null
let ended: Promise<void>

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'uploads-'))
  uploads = new SpoolFolder(folder)
  bodyMemory = new BodyMemory()
  outcome = null
  let end = (): void => {}
  ended = new Promise((resolve) => {
    end = resolve
  })
  site = await serve(async (request, response) => {
    outcome = await readForm(request, { uploads, bodyMemory }, OWNER, RULES)
    response.end(isRelayError(outcome) ? outcome.code : outcome.document)
    end()
  })
})

afterEach(async () => {
  if (outcome !== null && !isRelayError(outcome)) outcome.release()
  await site.close()
  rmSync(folder, { recursive: true })
})

type Entry = readonly [string, string | File]

async function send(...entries: readonly Entry[]): Promise<string> {
  const form = new FormData()
  for (const [name, value] of entries) form.append(name, value)
  return (await fetch(site.url, { method: 'POST', body: form })).text()
}

const file = (content: string, name = 'a.mp3', type = 'audio/mpeg') =>
  new File([content], name, { type })

const form = (): ReceivedForm => {
  if (outcome === null || isRelayError(outcome)) throw new Error(JSON.stringify(outcome))
  return outcome
}

const expectNothingHeld = (): void => {
  expect(uploads.space.take(4 * 1024 * 1024 * 1024)).toBe(true)
  expect(uploads.space.reserve(OWNER, OWNER.bytesMax)).toBe(true)
  expect(existsSync(join(folder, 'uploads')) ? readdirSync(join(folder, 'uploads')) : []).toEqual(
    [],
  )
}

describe('a form', () => {
  it('becomes a document with its fields, and a reference for each file', async () => {
    const text = await send(
      ['model', 'whisper-1'],
      ['n', '2'],
      ['stream', 'True'],
      ['words[]', 'one'],
      ['words[]', 'two'],
      ['file', file('sound')],
    )
    const sha256 = createHash('sha256').update('sound').digest('hex')
    expect(JSON.parse(text)).toEqual({
      model: 'whisper-1',
      n: 2,
      stream: true,
      'words[]': ['one', 'two'],
      file: { file: '0', name: 'a.mp3', type: 'audio/mpeg', bytes: 5, sha256 },
    })
    expect(readdirSync(join(folder, 'uploads'))).toEqual([])
    form().release()
    outcome = null
    expectNothingHeld()
  })

  it('is the same document whatever the boundary', async () => {
    const first = await send(['model', 'm'], ['file', file('sound')])
    form().release()
    expect(await send(['model', 'm'], ['file', file('sound')])).toBe(first)
  })

  it('keeps a text that is no number or flag, so that its format can refuse it', async () => {
    const text = await send(['n', '0x10'], ['stream', 'yes'], ['prompt', '"\\'])
    expect(JSON.parse(text)).toEqual({ n: '0x10', stream: 'yes', prompt: '"\\' })
  })

  it('names files without folders or control characters', async () => {
    const text = await send(['file', file('x', '../../etc/a\u0001".mp3', 'audio/x y')])
    const { file: reference } = JSON.parse(text) as { file: { name: string; type: string } }
    for (const character of '/"\u0001') expect(reference.name).not.toContain(character)
    expect(reference.type).toMatch(/^[\w.+-]+\/[\w.+-]+$/)
  })

  it.each([
    [
      'duplicate_key',
      [
        ['model', 'a'],
        ['model', 'b'],
      ],
    ],
    [
      'duplicate_key',
      [
        ['n', '1'],
        ['n', '100'],
      ],
    ],
    [
      'duplicate_key',
      [
        ['file', file('a')],
        ['file', file('b')],
      ],
    ],
    ['invalid_parameter', [['n[]', '1']]],
    ['invalid_parameter', [['N[0]', '1']]],
    ['invalid_parameter', [['model[name]', 'a']]],
    ['invalid_parameter', [['model', file('a')]]],
    ['invalid_parameter', [['file', 'a text']]],
    ['invalid_form', [['na\u00efve', 'a']]],
    ['string_above_max_length', [['prompt', 'x'.repeat(300_000)]]],
    ['form_too_long', Array.from({ length: 130 }, (_, at) => [`f${at}`, 'x'])],
    ['form_too_long', Array.from({ length: 5 }, (_, at) => [`f${at}`, 'x'.repeat(250_000)])],
    ['form_too_long', Array.from({ length: 22 }, () => ['image[]', file('x')])],
  ] as readonly (readonly [string, readonly Entry[]])[])(
    'is refused: %s',
    async (code, entries) => {
      expect(await send(...entries)).toBe(code)
      expectNothingHeld()
    },
  )

  it('is refused above 512 MiB before it is read', async () => {
    const socket = connect(Number(new URL(site.url).port), '127.0.0.1')
    socket.write(
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\n' +
        'Content-Length: 600000000\r\n\r\n',
    )
    await ended
    socket.destroy()
    expect(outcome).toMatchObject({ code: 'request_too_large', params: { subject: '512' } })
    expectNothingHeld()
  })

  it('is refused without a boundary or its end', async () => {
    const post = async (headers: Record<string, string>, body: string) =>
      (await fetch(site.url, { method: 'POST', headers, body })).text()
    const type = 'multipart/form-data; boundary=x'
    expect(await post({ 'content-type': 'application/json' }, '{}')).toBe('form_expected')
    expect(await post({ 'content-type': 'multipart/form-data' }, '--x--')).toBe('form_expected')
    const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc'
    expect(await post({ 'content-type': type }, part)).toBe('invalid_form')
    expectNothingHeld()
  })

  it('is refused if its boundary is inside another parameter, and leaves nothing', async () => {
    const headers = { 'content-type': 'multipart/form-data ; a="b; boundary=c;"' }
    const response = await fetch(site.url, { method: 'POST', headers, body: '--c--' })
    expect(await response.text()).toBe('form_expected')
    expectNothingHeld()
  })

  it('ends once and leaves nothing if the caller disconnects in the middle of a file', async () => {
    const { port } = new URL(site.url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\n' +
        'Content-Length: 100000\r\n\r\n' +
        '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc',
    )
    await new Promise((resolve) => setTimeout(resolve, 100))
    socket.destroy()
    await ended
    expect(outcome).toMatchObject({ code: 'request_incomplete' })
    expectNothingHeld()
  })

  it('is refused beyond the share of its user', async () => {
    const others = { ...OWNER, bytesMax: Number.MAX_SAFE_INTEGER }
    uploads.space.reserve(others, OWNER.bytesMax * 4 - 100)
    expect(await send(['file', file('x'.repeat(500))])).toBe('too_many_concurrent')
  })
})

describe('the form for a provider', () => {
  it('has the changed fields before the files, and can be opened again', async () => {
    await send(['file', file('sound', 'ä"b.mp3')], ['model', 'whisper-1'], ['words[]', 'one'])
    const { document, files } = form()
    const changed = { ...JSON.parse(document.toString()), model: 'other', extra: { a: 1 } }
    const upload = providerForm(Buffer.from(JSON.stringify(changed)), files)
    for (let time = 0; time < 2; time += 1) {
      const parts: Buffer[] = []
      for await (const part of upload.open(() => {})) parts.push(part as Buffer)
      const body = Buffer.concat(parts)
      expect(body.length).toBe(upload.length)
      const headers = { 'content-type': upload.contentType }
      const sent = await new Response(body, { headers }).formData()
      expect([...sent.keys()]).toEqual(['model', 'words[]', 'extra', 'file'])
      expect(sent.get('model')).toBe('other')
      expect(sent.get('extra')).toBe('{"a":1}')
      expect(await (sent.get('file') as File).text()).toBe('sound')
      expect((sent.get('file') as File).type).toBe('audio/mpeg')
    }
  })

  it('contains no file that the document of another call names', async () => {
    const document = Buffer.from('{"file":{"file":"0","name":"a"}}')
    const upload = providerForm(document, new Map())
    const parts: string[] = []
    for await (const part of upload.open(() => {})) parts.push(String(part))
    expect(parts.join('')).toContain('{"file":"0","name":"a"}')
    expect(parts.join('')).not.toContain('filename')
  })
})
