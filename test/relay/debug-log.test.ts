import { pino } from 'pino'
import { afterEach, expect, it } from 'vitest'
import { chat, type RelayRig, relayRig } from './support/relay-rig.ts'

let rig: RelayRig
afterEach(() => rig.close())

/** The lines that a relay logs at this level. */
async function startRig(level: string): Promise<{ call?: string; msg: string }[]> {
  const lines: { call?: string; msg: string }[] = []
  const log = pino({ level }, { write: (line: string) => void lines.push(JSON.parse(line)) })
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
