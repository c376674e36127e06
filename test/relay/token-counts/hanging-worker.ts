import { parentPort, workerData } from 'node:worker_threads'

/** A text for which the tokenizer never finishes. */
const ENDLESS = 'never ends'

const scratch = Buffer.from(workerData as SharedArrayBuffer)

parentPort?.on('message', ({ length = 0 }: { readonly length?: number }) => {
  if (scratch.toString('utf8', 0, length).includes(ENDLESS)) for (;;);
})

await import('#relay/token-counts/count-worker.ts')
