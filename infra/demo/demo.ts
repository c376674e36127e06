import { join, resolve } from 'node:path'
import { main } from '../main.ts'
import { ConsoleClient } from './console-client.ts'
import { type Furnished, furnish, PASSWORD } from './furnish.ts'
import { startSimulatedProvider } from './simulated-provider.ts'
import { startTrickle } from './trickle.ts'

const DATA_DIR = resolve(process.env.DATA_DIR ?? join(import.meta.dirname, '../../.data-demo'))

/** `npm run demo`: the product with a simulated provider, users, prices and live calls. */
async function demo(): Promise<void> {
  const provider = await startSimulatedProvider({ firstByteMs: 120, gapMs: 25, answerTokens: 40 })
  const running = await main({ LOG_LEVEL: 'warn', ...process.env, DATA_DIR }, true)
  if (running === null) {
    await provider.close()
    return
  }
  const furnished = await furnish(new ConsoleClient(running.url), provider.url)
  const trickle = startTrickle(running.url, furnished.tokens)
  process.on('exit', () => trickle.stop())
  process.stdout.write(words(running.url, furnished))
}

const words = (url: string, { users, tokens }: Furnished): string => `
  Console    ${url}
  Log in as  ${users.map(({ username, role }) => `${username} (${role})`).join(', ')}
  Password   ${PASSWORD}

  Calls trickle in: open ${url}/app/logs/api-usage and watch, or make one yourself:

  curl -sN ${url}/v1/chat/completions \\
    -H "Authorization: Bearer ${tokens[0]?.key}" -H "Content-Type: application/json" \\
    -d '{"model":"sim-small","stream":true,"messages":[{"role":"user","content":"Hello"}]}'

  Ctrl-C stops it. The data stays in ${DATA_DIR}
`

await demo()
