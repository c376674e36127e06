import { type FormEvent, type ReactElement, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { TextInput } from '#console/ui/inputs.tsx'

const pad = (part: number): string => String(part).padStart(2, '0')

/** Unix seconds as the browser's field for local date and time has it. */
function fieldText(at: number): string {
  if (at === 0) return ''
  const date = new Date(at * 1_000)
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
  return `${day}T${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`
}

/** A moment, to the second, in this browser's time; or now again. */
export function MomentPicker(props: { at: number; onAt: (at: number) => void }): ReactElement {
  const { t } = useTranslation()
  const id = useId()
  const [draft, setDraft] = useState({ of: props.at, text: fieldText(props.at) })
  if (draft.of !== props.at) setDraft({ of: props.at, text: fieldText(props.at) })
  const moment = Math.floor(new Date(draft.text).getTime() / 1_000)
  const isMoment = Number.isSafeInteger(moment) && moment > 0
  const ask = (event: FormEvent): void => {
    event.preventDefault()
    if (isMoment) props.onAt(moment)
  }
  return (
    <form className="tg-health-moment" onSubmit={ask}>
      <label htmlFor={id}>{t('health.stateAt')}</label>
      <TextInput
        id={id}
        type="datetime-local"
        step={1}
        value={draft.text}
        onChange={(text) => setDraft({ of: props.at, text })}
      />
      <Button type="submit" isDisabled={!isMoment}>
        {t('health.ask')}
      </Button>
      {props.at !== 0 && (
        <Button tone="quiet" onClick={() => props.onAt(0)}>
          {t('health.backToNow')}
        </Button>
      )}
    </form>
  )
}
