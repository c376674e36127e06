import { pino } from 'pino'
import { afterEach, expect, it } from 'vitest'
import { chat, KEY, type RelayRig, relayRig } from './support/relay-rig.ts'
import { type TasksRig, tasksRig } from './tasks/tasks-rig.ts'

type Line = { readonly call?: string; readonly msg: string; readonly code?: string }

let rig: RelayRig
afterEach(() => rig.close())

/** A logger, and the lines that it writes at this level. */
function logOf(level: string) {
  const lines: Line[] = []
  const log = pino({ level }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  return { log, lines }
}

/** The lines that a relay logs at this level. */
async function startRig(level: string): Promise<Line[]> {
  const { log, lines } = logOf(level)
  rig = await relayRig({}, {}, undefined, { log })
  return lines
}

it('the debug log names the id of a call from its plan to its end', async () => {
  const lines = await startRig('debug')
  await rig.setOption('RetryTimes', '1')
  rig.provider.script.push({ kind: 'status', status: 500 })
  const { headers } = await chat(rig, { stream: true })
  const call = headers.get('x-request-id')
  await expect.poll(() => lines.some(({ msg }) => msg === 'a call ended')).toBe(true)
  const steps = lines.filter((line) => line.call === call).map(({ msg }) => msg)
  expect(steps.slice(0, 3)).toEqual([
    'a call was planned and has a permit',
    'a call was admitted',
    'an attempt ended',
  ])
  expect(steps.at(-1)).toBe('a call ended')
  expect(JSON.stringify(lines)).not.toMatch(/sk-|hello/)
})

it('the info log has no line for a call that succeeds', async () => {
  const lines = await startRig('info')
  expect((await chat(rig)).status).toBe(200)
  expect(lines).toEqual([])
})

it.each([
  ['POST', '/v1/chat/completions', 'sk-unknown', 'invalid_key'],
  ['GET', '/v1/chat/completions', KEY, 'method_not_allowed'],
  ['GET', '/v1/models', 'sk-unknown', 'invalid_key'],
  ['POST', '/v1/nothing', KEY, 'not_found'],
  ['POST', '/mj/submit/imagine', 'sk-unknown', 'invalid_key'],
  ['POST', '/mj/nothing', KEY, 'not_found'],
])('the debug log names the error of %s %s with %s: %s', async (method, path, key, code) => {
  const lines = await startRig('debug')
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = method === 'POST' ? '{}' : null
  const response = await fetch(`${rig.url}${path}`, { method, headers, body })
  const call = response.headers.get('x-request-id')
  await response.text()
  const errors = lines.filter((line) => line.call === call)
  expect(errors).toMatchObject([{ msg: 'an error was sent', code, status: response.status }])
  expect(JSON.stringify(lines)).not.toContain(key)
})

/** A relay with tasks that logs at level debug. */
async function startTasksRig(): Promise<{ tasks: TasksRig; lines: Line[] }> {
  const { log, lines } = logOf('debug')
  const tasks = await tasksRig({}, { taskMs: 1, log })
  rig = tasks
  return { tasks, lines }
}

it('the debug log names the id of a task from its plan to its result', async () => {
  const { tasks, lines } = await startTasksRig()
  const task = await tasks.imagine('a secret lighthouse')
  await expect
    .poll(async () => (await tasks.taskEvents(task)).map(({ type }) => type))
    .toContain('TaskSucceeded')
  const reported = 'a provider reported on a task'
  await expect.poll(() => lines.some(({ msg }) => msg === reported)).toBe(true)
  const steps = lines.filter((line) => line.call === task).map(({ msg }) => msg)
  expect(steps.slice(0, 4)).toEqual([
    'a task was planned and has a permit',
    'a task was admitted',
    'an attempt ended',
    'a task was accepted',
  ])
  expect(steps).toContain('a provider was polled about a task')
  expect(steps.at(-1)).toBe(reported)
  expect(JSON.stringify(lines)).not.toMatch(/sk-|secret lighthouse/)
})

it('the debug log names the id of a task that no provider accepts', async () => {
  const { tasks, lines } = await startTasksRig()
  const { headers } = await tasks.ask('/mj/submit/imagine', { prompt: 'a banned word' })
  const call = headers.get('x-request-id')
  const steps = lines.filter((line) => line.call === call).map(({ msg }) => msg)
  expect(steps).toEqual([
    'a task was planned and has a permit',
    'a task was admitted',
    'an attempt ended',
    'a task was not accepted',
  ])
})
