import type { ConsoleClient } from './management-api-client.ts'
import { setChannel } from './seed.ts'

const CHANNELS = [
  { name: 'Simulated drawings', type: 2, models: 'mj_imagine,mj_upscale,mj_variation,mj_reroll' },
  { name: 'Simulated songs', type: 36, models: 'suno_music,suno_lyrics' },
]

const TASKS: readonly (readonly [path: string, body: object])[] = [
  ['/mj/submit/imagine', { prompt: 'a lighthouse at dusk, waves of colour --ar 3:2' }],
  ['/mj/submit/imagine', { prompt: '远山与湖泊，水墨' }],
  ['/suno/submit/lyrics', { prompt: 'the sea, and everything that balances' }],
  ['/mj/submit/imagine', { prompt: 'a failing attempt at a perfect circle' }],
  ['/suno/submit/music', { gpt_description_prompt: 'a shanty about ledgers' }],
  ['/mj/submit/imagine', { prompt: 'a banned word among others' }],
  ['/suno/submit/music', { gpt_description_prompt: '一首失败的 failing 进行曲' }],
  ['/mj/submit/imagine', { prompt: 'a very small robot, reading a very large receipt' }],
]

const TASK_INTERVAL_MS = 90_000

type Keys = readonly { readonly key: string }[]

/**
 * Enables drawing and music, and submits each demo task once. The first task uses the first API
 * token in `tokens`, the second task the second token, and so on.
 */
export async function seedTasks(
  root: ConsoleClient,
  providerUrl: string,
  tokens: Keys,
): Promise<void> {
  for (const option of ['DrawingEnabled', 'TaskEnabled']) {
    await root.must('PUT', '/api/option/', { key: option, value: 'true' })
  }
  const fields = { key: 'simulated-secret', base_url: providerUrl, group: 'default' }
  for (const channel of CHANNELS) await setChannel(root, { ...fields, ...channel })
  for (const index of TASKS.keys()) await submit(root.url, tokens, index)
}

export function startTaskTrickle(url: string, tokens: Keys): { stop(): void } {
  let count = 0
  const timer = setInterval(() => {
    submit(url, tokens, count).catch(() => {})
    count += 1
  }, TASK_INTERVAL_MS)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

async function submit(url: string, tokens: Keys, index: number): Promise<void> {
  const [path, body] = TASKS[index % TASKS.length] ?? ['', {}]
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      'mj-api-secret': tokens[index % tokens.length]?.key ?? '',
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  await response.arrayBuffer()
}
