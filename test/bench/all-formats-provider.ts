import { providerOfAllFormats } from '#test/relay/clients/provider-families.ts'

/** Answers in every format. A stream has about as many pieces as that of the simulated provider. */
const TEXT = 'a ledger that never forgets keeps every unit and every call in its place for good'
const usage = { input: 100, cached: 20, output: 20 }
const answer = { kind: 'text', text: TEXT, usage } as const
const { url, requests } = await providerOfAllFormats(() => answer)
// The requests that are kept for tests would fill the memory.
setInterval(() => requests.splice(0), 100)
process.stdout.write(`${url}\n`)
