import type { IncomingMessage, ServerResponse } from 'node:http'
import { createPng, createWav, TUNE_SECONDS } from './generated-media.ts'

/**
 * Simulates drawing and music services. A task takes `taskMs` milliseconds and spends half of this
 * time in a queue. A word in the prompt changes the outcome. With `banned`, the task is refused.
 * With `failing`, the task fails. With `stuck`, the task never ends. With `slow`, the submission is
 * answered after two seconds.
 */
export type TaskProvider = {
  /** Returns false when the request is not for a drawing or music service. */
  readonly answer: (request: IncomingMessage, response: ServerResponse, body: string) => boolean
  readonly tasks: ReadonlyMap<string, SimulatedTask>
  readonly close: () => void
}

export type SimulatedTask = {
  readonly id: string
  readonly action: string
  readonly prompt: string
  readonly startedAt: number
  readonly notifyHook: string | null
  readonly secret: string
  /** The base URL of this provider, from the `Host` header of the gateway's request. */
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
      if (path.startsWith('/mj/pictures/')) return sendFile(response, 'image/png', createPng, path)
      if (path.startsWith('/suno/songs/')) return sendFile(response, 'audio/wav', createWav, path)
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

/** Sends a generated picture or sound. The number in the path selects the content. */
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

type TaskResponses = {
  readonly submit: (action: string) => string
  readonly shown: (id: string) => object[]
}

function answerTo(path: string, fields: Fields, { submit, shown }: TaskResponses): object | null {
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
  const lyrics = { text: '[Verse]\nla la la', title: 'Simulated', status: 'complete' }
  return {
    task_id: id,
    action,
    status,
    fail_reason: status === 'FAILURE' ? 'the simulated model gave up' : '',
    submit_time: Math.floor(startedAt / 1_000),
    start_time: Math.floor(startedAt / 1_000),
    finish_time: isOver ? Math.floor(now / 1_000) : 0,
    progress: `${percent}%`,
    data: isDone ? (action === 'LYRICS' ? lyrics : [clip]) : null,
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
