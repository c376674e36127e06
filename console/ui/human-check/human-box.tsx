import { type ReactElement, useEffect, useEffectEvent, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocale } from '#console/i18n/use-locale.ts'
import { useTheme } from '#console/theme/theme-mode.ts'
import { Icon } from '../icons.tsx'
import { type HumanCheckApi, loadHumanCheck } from './load-script.ts'

type Widget = { readonly api: HumanCheckApi; readonly id: string }

/** The provider's widget. `onToken` is called with a token, and with none once that expired. */
export function HumanBox(props: {
  siteKey: string
  action: string
  /** A greater one asks for a new token. */
  round: number
  onToken: (token: string) => void
}): ReactElement {
  const { t } = useTranslation()
  const { siteKey, action, round } = props
  const [theme, language] = [useTheme(), useLocale()]
  const box = useRef<HTMLDivElement>(null)
  const widget = useRef<Widget | null>(null)
  const [isFailed, setFailed] = useState(false)
  const onToken = useEffectEvent(props.onToken)
  useEffect(() => {
    let isGone = false
    const start = async () => {
      const api = await loadHumanCheck()
      if (isGone || box.current === null) return
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
    start().catch(() => setFailed(!isGone))
    return () => {
      isGone = true
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
      {isFailed && (
        <p className="tg-alert tg-alert-bad" role="alert">
          <Icon name="alert" />
          {t('auth.humanFailed')}
        </p>
      )}
    </div>
  )
}
