import type { IncomingMessage, ServerResponse } from 'node:http'
import { crc32, deflateSync } from 'node:zlib'

const RATE = 8_000
/** Semitones above the first. */
const TUNE = [0, 4, 7, 12, 9, 7, 4, 0]
const NOTE_SECONDS = 0.5
const LOWEST_HERTZ = 196

/** Seconds that the tune takes. */
const TUNE_SECONDS = TUNE.length * NOTE_SECONDS

/** A short tune, higher or lower for every number: mono, 8 bits. */
function hummedWav(seed: number): Buffer {
  const samples = Buffer.alloc(RATE * TUNE_SECONDS)
  const perNote = RATE * NOTE_SECONDS
  for (let at = 0; at < samples.length; at += 1) {
    const semitones = (TUNE[Math.floor(at / perNote)] ?? 0) + (seed % 12)
    const part = (at % perNote) / perNote
    const wave = Math.sin((2 * Math.PI * at * LOWEST_HERTZ * 2 ** (semitones / 12)) / RATE)
    samples[at] = 128 + Math.round(80 * wave * Math.sin(Math.PI * part))
  }
  return Buffer.concat([header(samples.length), samples])
}

function header(length: number): Buffer {
  const head = Buffer.alloc(44)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(36 + length, 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(RATE, 24)
  head.writeUInt32LE(RATE, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write('data', 36, 'latin1')
  head.writeUInt32LE(length, 40)
  return head
}

const SIDE = 256
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** A small picture of its own for every number: two waves of colour. */
function paintedPng(seed: number): Buffer {
  const rows = Buffer.alloc(SIDE * (1 + SIDE * 3))
  const [low, high] = [seed % 360, (seed * 137) % 360]
  let at = 0
  for (let y = 0; y < SIDE; y += 1) {
    rows[at] = 0
    at += 1
    for (let x = 0; x < SIDE; x += 1) {
      const wave = (Math.sin((x + seed) / 40) + Math.cos((y - seed) / 55) + 2) / 4
      const hue = low + (high - low) * wave
      for (const shift of [0, 120, 240]) {
        rows[at] = Math.round(140 + 100 * Math.cos(((hue + shift) * Math.PI) / 180))
        at += 1
      }
    }
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(SIDE, 0)
  head.writeUInt32BE(SIDE, 4)
  head.set([8, 2, 0, 0, 0], 8)
  const parts = [chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', EMPTY)]
  return Buffer.concat([SIGNATURE, ...parts])
}

const EMPTY = Buffer.alloc(0)

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

/**
 * Drawing and music services by rule: a task takes `taskMs`, half of it in a queue. Words in its
 * prompt change that: `banned` is refused, `failing` fails, `stuck` never ends, and `slow` is taken
 * at once and answered two seconds later.
 */
export type TaskProvider = {
  /** True: it was for this provider, and is answered. */
  readonly answer: (request: IncomingMessage, response: ServerResponse, body: string) => boolean
  /** Every task there is, for tests. */
  readonly tasks: ReadonlyMap<string, SimulatedTask>
  readonly close: () => void
}

type SimulatedTask = {
  readonly id: string
  readonly action: string
  readonly prompt: string
  readonly startedAt: number
  readonly notifyHook: string | null
  readonly secret: string
  /** Of this provider, as it was reached. */
  readonly address: string
}

type Fields = {
  readonly prompt?: string
  readonly gpt_description_prompt?: string
  readonly ids?: readonly string[]
  readonly notifyHook?: string
}

const SUBMIT = /^\/mj\/(?:submit\/([a-z-]+)|insight-face\/(swap))$/
const OF_TASK = /^\/mj\/task\/(\d+)\/(fetch|image-seed)$/
const COMPOSE = /^\/suno\/submit\/(MUSIC|LYRICS)$/
const QUARTERS = 4
const SLOW_MS = 2_000

export function createTaskProvider(taskMs: number, now: () => number = Date.now): TaskProvider {
  const tasks = new Map<string, SimulatedTask>()
  const timers = new Set<NodeJS.Timeout>()
  let count = 1_700_000_000_000_000

  const submit = (action: string, fields: Fields, request: IncomingMessage): string => {
    count += 1
    const task: SimulatedTask = {
      id: String(count),
      action: action.toUpperCase().replaceAll('-', '_'),
      prompt: fields.prompt ?? fields.gpt_description_prompt ?? '',
      startedAt: now(),
      notifyHook: fields.notifyHook ?? null,
      secret: String(request.headers['mj-api-secret'] ?? request.headers.authorization ?? ''),
      address: `http://${request.headers.host}`,
    }
    tasks.set(task.id, task)
    if (task.notifyHook !== null) callBack(task, task.notifyHook)
    return task.id
  }
  const callBack = (task: SimulatedTask, hook: string): void => {
    for (let quarter = 1; quarter <= QUARTERS; quarter += 1) {
      const timer = setTimeout(
        () => {
          timers.delete(timer)
          post(hook, drawingOf(task, taskMs, now()))
        },
        (taskMs * quarter) / QUARTERS + 20,
      ).unref()
      timers.add(timer)
    }
  }
  return {
    tasks,
    close: () => {
      for (const timer of timers) clearTimeout(timer)
    },
    answer: (request, response, body) => {
      const path = (request.url ?? '').split('?')[0] ?? ''
      if (!/^\/(?:mj|suno)\//.test(path)) return false
      if (path.startsWith('/mj/pictures/')) return sendFile(response, 'image/png', paintedPng, path)
      if (path.startsWith('/suno/songs/')) return sendFile(response, 'audio/wav', hummedWav, path)
      const fields = fieldsIn(body)
      const isMusic = path.startsWith('/suno/')
      const answered = answerTo(path, fields, {
        submit: (action) => submit(action, fields, request),
        shown: (id) => {
          const task = tasks.get(id)
          if (task === undefined) return []
          return [(isMusic ? musicOf : drawingOf)(task, taskMs, now())]
        },
      })
      if (answered === null) sendJson(response, UNKNOWN, 404)
      else if (isSlow(fields)) setTimeout(() => sendJson(response, answered), SLOW_MS).unref()
      else sendJson(response, answered)
      return true
    },
  }
}

function post(hook: string, value: object): void {
  const headers = { 'content-type': 'application/json' }
  fetch(hook, { method: 'POST', headers, body: JSON.stringify(value) }).catch(() => {})
}

/** Made anew from the number in its path. */
function sendFile(
  response: ServerResponse,
  type: string,
  make: (seed: number) => Buffer,
  path: string,
): true {
  const file = make(Number(path.replaceAll(/\D/g, '')))
  response.writeHead(200, { 'content-type': type, 'content-length': file.length })
  response.end(file)
  return true
}

const UNKNOWN = { code: 4, description: 'unknown path', result: null }

type Ways = {
  readonly submit: (action: string) => string
  readonly shown: (id: string) => object[]
}

function answerTo(path: string, fields: Fields, { submit, shown }: Ways): object | null {
  const [, draw, swap] = SUBMIT.exec(path) ?? []
  if (draw !== undefined || swap !== undefined) {
    return drawingAnswer(fields, () => submit(draw ?? 'swap_face'))
  }
  const [, composed] = COMPOSE.exec(path) ?? []
  if (composed !== undefined) return musicAnswer(fields, () => submit(composed))
  if (path === '/mj/task/list-by-condition') return (fields.ids ?? []).flatMap(shown)
  if (path === '/suno/fetch') {
    return { code: 'success', message: '', data: (fields.ids ?? []).flatMap(shown) }
  }
  const [, id = '', what] = OF_TASK.exec(path) ?? []
  if (what === 'fetch') return shown(id)[0] ?? {}
  if (what !== 'image-seed') return null
  return { code: 1, description: 'success', result: String(Number(id) % 1e9) }
}

function fieldsIn(body: string): Fields {
  try {
    return JSON.parse(body) as Fields
  } catch {
    return {}
  }
}

const isSlow = ({ prompt = '' }: Fields): boolean => /\bslow\b/.test(prompt)

const isBanned = ({ prompt = '' }: Fields): boolean => /\bbanned\b/.test(prompt)

function drawingAnswer(fields: Fields, submit: () => string): object {
  if (isBanned(fields)) return { code: 24, description: 'banned prompt words', result: null }
  return { code: 1, description: 'submitted', properties: {}, result: submit() }
}

function musicAnswer(fields: Fields, submit: () => string): object {
  if (isBanned(fields)) return { code: 'banned', message: 'banned prompt words', data: null }
  return { code: 'success', message: '', data: submit() }
}

type Course = { readonly status: string; readonly percent: number; readonly isOver: boolean }

function courseOf({ prompt, startedAt }: SimulatedTask, taskMs: number, now: number): Course {
  const part = (now - startedAt) / taskMs
  if (/\bstuck\b/.test(prompt)) return { status: 'IN_PROGRESS', percent: 10, isOver: false }
  if (part >= 1) {
    const status = /\bfailing\b/.test(prompt) ? 'FAILURE' : 'SUCCESS'
    return { status, percent: 100, isOver: true }
  }
  const percent = Math.max(0, Math.floor(part * 100))
  return { status: part < 0.5 ? 'SUBMITTED' : 'IN_PROGRESS', percent, isOver: false }
}

function drawingOf(task: SimulatedTask, taskMs: number, now: number): object {
  const { status, percent, isOver } = courseOf(task, taskMs, now)
  const { id, action, prompt, startedAt, address } = task
  const isDone = status === 'SUCCESS'
  return {
    id,
    action,
    prompt,
    promptEn: prompt,
    submitTime: startedAt,
    startTime: startedAt,
    finishTime: isOver ? now : null,
    progress: `${percent}%`,
    status,
    failReason: status === 'FAILURE' ? 'the simulated model gave up' : null,
    imageUrl: isDone ? `${address}/mj/pictures/${id}.png` : null,
    buttons: isDone
      ? [1, 2, 3, 4].map((index) => ({
          customId: `MJ::JOB::upsample::${index}::${id}`,
          label: `U${index}`,
        }))
      : [],
    properties: {},
  }
}

function musicOf(task: SimulatedTask, taskMs: number, now: number): object {
  const { status, percent, isOver } = courseOf(task, taskMs, now)
  const { id, action, prompt, startedAt, address } = task
  const isDone = status === 'SUCCESS'
  const clip = {
    id: `clip-${id}`,
    title: 'Simulated',
    audio_url: `${address}/suno/songs/${id}.wav`,
    image_url: `${address}/mj/pictures/${id}.png`,
    metadata: { prompt, tags: 'simulated, short', duration: TUNE_SECONDS },
    status: 'complete',
  }
  const words = { text: '[Verse]\nla la la', title: 'Simulated', status: 'complete' }
  return {
    task_id: id,
    action,
    status,
    fail_reason: status === 'FAILURE' ? 'the simulated model gave up' : '',
    submit_time: Math.floor(startedAt / 1_000),
    start_time: Math.floor(startedAt / 1_000),
    finish_time: isOver ? Math.floor(now / 1_000) : 0,
    progress: `${percent}%`,
    data: isDone ? (action === 'LYRICS' ? words : [clip]) : null,
  }
}

function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  const text = JSON.stringify(value)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}
