import { useTranslation } from 'react-i18next'
import { currentSeconds } from '#console/api/scratch-copy.ts'
import { Button } from '#console/ui/elements/button.tsx'
import type { UrlParam } from '#console/ui/state/url-state.ts'
import { localTimeText, readLocalTime } from '#console/ui/time-range/time-range.ts'

const AT = /^(?:\d{1,15}|\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?(?:\.\d{1,3})?Z)$/

/**
 * The URL parameter for a point in the history: a position of the event log or a time in UTC. An
 * empty text means the present.
 */
export const asOfParam: UrlParam<string> = {
  fallback: '',
  read: (text) => (AT.test(text) ? text : null),
  write: (at) => at,
}

/**
 * Lets the user select the point in the history whose state a page shows. The input has no seconds,
 * so the end of the selected minute is used.
 */
export function AsOfFilter(props: { at: string; onAt: (at: string) => void }) {
  const { t } = useTranslation()
  const { at, onAt } = props
  const isPosition = /^\d+$/.test(at)
  const select = (text: string): void => {
    const seconds = readLocalTime(text)
    if (seconds !== null) onAt(new Date(seconds * 1000 + 59_999).toISOString())
  }
  return (
    <span className="tg-audit-as-of">
      {isPosition ? (
        `${t('audit.asOf')} #${at}`
      ) : (
        <label>
          {t('audit.asOf')}
          <input
            type="datetime-local"
            className="tg-input"
            value={at === '' ? '' : localTimeText(Date.parse(at) / 1000)}
            max={localTimeText(currentSeconds())}
            onChange={(event) => select(event.currentTarget.value)}
          />
        </label>
      )}
      {at !== '' && (
        <Button tone="quiet" icon="close" onClick={() => onAt('')}>
          {t('shared.backToNow')}
        </Button>
      )}
    </span>
  )
}
