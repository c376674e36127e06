import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocale } from '#console/i18n/use-locale-and-number-format.ts'
import { useTheme } from '#console/theme/theme-mode.ts'
import { createScriptUrl } from '../browser/trusted-script-url.ts'
import { Alert } from '../messages/alert.tsx'

type HumanCheckApi = {
  readonly render: (box: HTMLElement, options: Readonly<Record<string, unknown>>) => string
  readonly reset: (id: string) => void
  readonly remove: (id: string) => void
}

type Globals = { turnstile?: HumanCheckApi }

const scriptUrl = createScriptUrl(
  'human-check',
  'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit',
)

let loading: Promise<HumanCheckApi> | undefined

/** Loads the script of the CAPTCHA provider once. If loading fails, the next call tries again. */
function loadHumanCheck(): Promise<HumanCheckApi> {
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

type Widget = { readonly api: HumanCheckApi; readonly id: string }

/**
 * A CAPTCHA, with which users prove that they are human. `onToken` is called with a token when the
 * user has completed the CAPTCHA. `onToken` is called with an empty text when the token has
 * expired, after an error of the CAPTCHA, and when the widget of the CAPTCHA is removed.
 */
export function HumanCheckBox(props: {
  siteKey: string
  action: string
  /**
   * The caller increases this number to request another token, because a token can be used only
   * once.
   */
  round: number
  onToken: (token: string) => void
}) {
  const { t } = useTranslation()
  const { siteKey, action, round } = props
  const [theme, language] = [useTheme(), useLocale()]
  const box = useRef<HTMLDivElement>(null)
  const widget = useRef<Widget | null>(null)
  const [isFailed, setFailed] = useState(false)
  const onToken = useEffectEvent(props.onToken)
  useEffect(() => {
    let isUnmounted = false
    const start = async () => {
      const api = await loadHumanCheck()
      if (isUnmounted || box.current === null) return
      const id = api.render(box.current, {
        sitekey: siteKey,
        action,
        theme,
        language,
        size: 'flexible',
        callback: (token: string) => onToken(token),
        'expired-callback': () => onToken(''),
        'error-callback': () => onToken(''),
      })
      widget.current = { api, id }
    }
    setFailed(false)
    start().catch(() => setFailed(!isUnmounted))
    return () => {
      isUnmounted = true
      onToken('')
      widget.current?.api.remove(widget.current.id)
      widget.current = null
    }
  }, [siteKey, action, theme, language])
  useEffect(() => {
    if (round > 0) widget.current?.api.reset(widget.current.id)
  }, [round])
  return (
    <div className="tg-human">
      <div ref={box} />
      {isFailed && <Alert tone="bad">{t('auth.humanCheckFailed')}</Alert>}
    </div>
  )
}
