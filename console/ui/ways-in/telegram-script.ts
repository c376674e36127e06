type ScriptPolicy = { createScriptURL: (url: string) => string }
type Globals = {
  trustedTypes?: { createPolicy: (name: string, rules: ScriptPolicy) => ScriptPolicy }
}

const SCRIPT = 'https://telegram.org/js/telegram-widget.js?22'

/**
 * The element by which Telegram's widget is shown (core.telegram.org/widgets/login): its script
 * reads the attributes and puts a frame in its place. By address: a callback would need `eval`.
 */
export function telegramScript(widget: {
  readonly bot: string
  readonly language: string
  readonly authUrl: string
}): HTMLScriptElement {
  const script = document.createElement('script')
  script.async = true
  script.dataset.telegramLogin = widget.bot
  script.dataset.size = 'large'
  script.dataset.lang = widget.language
  script.dataset.authUrl = widget.authUrl
  script.src = scriptUrl()
  return script
}

let policy: ScriptPolicy | undefined

/** The one address that this policy lets through, whatever it is asked. */
function scriptUrl(): string {
  const { trustedTypes } = globalThis as Globals
  policy ??= trustedTypes?.createPolicy('telegram-widget', { createScriptURL: () => SCRIPT })
  return policy?.createScriptURL(SCRIPT) ?? SCRIPT
}
