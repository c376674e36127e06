import type { ConsoleClient } from './console-client.ts'
import { setChannel } from './furnish.ts'

const CHANNELS = [
  { name: 'Simulated drawings', type: 2, models: 'mj_imagine,mj_upscale,mj_variation,mj_reroll' },
  { name: 'Simulated songs', type: 36, models: 'suno_music,suno_lyrics' },
]

const TASKS: readonly (readonly [path: string, body: object])[] = [
  ['/mj/submit/imagine', { prompt: 'a lighthouse at dusk, waves of colour' }],
  ['/mj/submit/imagine', { prompt: 'a failing attempt at a perfect circle' }],
  ['/mj/submit/imagine', { prompt: '远山与湖泊，水墨' }],
  ['/suno/submit/music', { gpt_description_prompt: 'a shanty about ledgers' }],
  ['/suno/submit/lyrics', { prompt: 'the sea, and everything that balances' }],
]

/** Drawing and music switched on, with a channel for each, and a few tasks at every start. */
export async function furnishTasks(
  root: ConsoleClient,
  providerUrl: string,
  key: string,
): Promise<void> {
  for (const option of ['DrawingEnabled', 'TaskEnabled']) {
    await root.must('PUT', '/api/option/', { key: option, value: 'true' })
  }
  const fields = { key: 'simulated-secret', base_url: providerUrl, group: 'default' }
  for (const channel of CHANNELS) await setChannel(root, { ...fields, ...channel })
  for (const [path, body] of TASKS) {
    await fetch(`${root.url}${path}`, {
      method: 'POST',
      headers: { 'mj-api-secret': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  }
}
