/** What the provider's script puts on the window. */
export type HumanCheckApi = {
  readonly render: (box: HTMLElement, options: Readonly<Record<string, unknown>>) => string
  readonly reset: (id: string) => void
  readonly remove: (id: string) => void
}

type ScriptPolicy = { createScriptURL: (url: string) => string }
type Globals = {
  turnstile?: HumanCheckApi
  trustedTypes?: { createPolicy: (name: string, rules: ScriptPolicy) => ScriptPolicy }
}

const SCRIPT = 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit'

let loading: Promise<HumanCheckApi> | undefined

/** The provider's script, fetched once, and again after it did not come. */
export function loadHumanCheck(): Promise<HumanCheckApi> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

function load(): Promise<HumanCheckApi> {
  return new Promise((done, fail) => {
    const script = document.createElement('script')
    script.src = scriptUrl()
    script.async = true
    script.addEventListener('load', () => {
      const { turnstile } = globalThis as Globals
      if (turnstile === undefined) fail(new Error('the human check did not start'))
      else done(turnstile)
    })
    script.addEventListener('error', () => fail(new Error('the human check did not come')))
    document.head.append(script)
  })
}

let policy: ScriptPolicy | undefined

/** The one address that this policy lets through, whatever it is asked. */
function scriptUrl(): string {
  const { trustedTypes } = globalThis as Globals
  policy ??= trustedTypes?.createPolicy('human-check', { createScriptURL: () => SCRIPT })
  return policy?.createScriptURL(SCRIPT) ?? SCRIPT
}
