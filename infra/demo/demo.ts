import { join, resolve } from 'node:path'
import { main } from '../main.ts'
import { startChatClient } from './chat-client.ts'
import { ConsoleClient } from './console-client.ts'
import { type Furnished, furnish, PASSWORD } from './furnish.ts'
import { furnishChats } from './furnish-chats.ts'
import { furnishCodes } from './furnish-codes.ts'
import { DEMO_KEYS, furnishPayments } from './furnish-payments.ts'
import { furnishTasks, startTaskTrickle } from './furnish-tasks.ts'
import { startPaymentGateway } from './payment-gateway.ts'
import { startSimulatedProvider } from './simulated-provider.ts'
import { startTrickle } from './trickle.ts'

const DATA_DIR = resolve(process.env.DATA_DIR ?? join(import.meta.dirname, '../../.data-demo'))

/** `npm run demo`: the product with a simulated provider, users, prices and live calls. */
async function demo(): Promise<void> {
  const provider = await startSimulatedProvider({ firstByteMs: 120, gapMs: 25, answerTokens: 40 })
  const gateway = await startPaymentGateway(DEMO_KEYS)
  const chat = await startChatClient()
  const engines = { STRIPE_API_BASE: gateway.url, DATA_DIR }
  const running = await main({ LOG_LEVEL: 'warn', ...process.env, ...engines }, true)
  if (running === null) {
    await Promise.all([provider.close(), gateway.close(), chat.close()])
    return
  }
  const root = new ConsoleClient(running.url)
  const furnished = await furnish(root, provider.url)
  await furnishChats(root, chat)
  await Promise.all([furnishPayments(root, gateway), furnishCodes(root)])
  await furnishTasks(root, provider.url, furnished.tokens)
  const trickle = startTrickle(running.url, furnished.tokens)
  const tasks = startTaskTrickle(running.url, furnished.tokens)
  process.on('exit', () => {
    trickle.stop()
    tasks.stop()
  })
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
