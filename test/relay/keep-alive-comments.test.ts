import { beforeEach, expect, it } from 'vitest'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, relayRig } from './support/relay-rig.ts'

const rig = startedForEach(relayRig)
beforeEach(async () => {
  await rig.setOption('general_setting.ping_interval_seconds', '1')
})

const slowly = async (msPerChunk: number): Promise<string> => {
  rig.provider.script.push({ kind: 'slow', msPerChunk })
  return (await chat(rig, { stream: true, max_tokens: 2 })).text
}

it('the relay sends comments between the events of a stream that pauses', async () => {
  await rig.setOption('general_setting.ping_interval_enabled', 'true')
  const events = (await slowly(1_600)).split('\n\n').filter((event) => event !== '')
  const pings = events.filter((event) => event === ': ping').length
  expect(pings).toBeGreaterThanOrEqual(2)
  expect(events.findIndex((event) => event.startsWith('data:'))).toBeLessThan(
    events.lastIndexOf(': ping'),
  )
  expect(events.at(-1)).toBe('data: [DONE]')
  for (const event of events) expect(event).toMatch(/^(: ping|data: (\{.*\}|\[DONE\]))$/)
})

it('a stream without pauses has no comments, nor does any while the option is off', async () => {
  expect(await slowly(1_600)).not.toContain('ping')
  await rig.setOption('general_setting.ping_interval_enabled', 'true')
  expect(await slowly(100)).not.toContain('ping')
})
