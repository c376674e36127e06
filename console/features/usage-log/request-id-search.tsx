import { type KeyboardEvent, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { findFullRequestId, findRequestId } from '#console/ui/elements/find-request-id.ts'
import { TextInput } from '#console/ui/forms/inputs.tsx'

type Props = { value: string; onCommit: (requestId: string) => void }

/**
 * Searches for a call by its id. A complete id is searched for as soon as it is entered. The start
 * of an id is searched for when the user presses Enter or leaves the field.
 */
export function RequestIdSearch({ value, onCommit }: Props) {
  const { t } = useTranslation()
  const id = useId()
  const [draft, setDraft] = useState({ from: value, text: value, isInvalid: false })
  const set = (text: string, isInvalid = false): void => setDraft({ from: value, text, isInvalid })
  // The URL was changed by another control, such as the browser's Back button.
  if (draft.from !== value) set(value)
  const commit = (text: string): void => {
    const requestId = text.trim() === '' ? '' : findRequestId(text)
    if (requestId === null) return set(text, true)
    set(requestId)
    if (requestId !== value) onCommit(requestId)
  }
  const change = (text: string): void => {
    if (text === '' || findFullRequestId(text) !== null) commit(text)
    else set(text)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) commit(draft.text)
  }
  return (
    <span className="tg-filter tg-log-search">
      <TextInput
        type="search"
        icon="search"
        aria-label={t('usageLog.findRequest')}
        placeholder={t('shared.requestId')}
        title={draft.text || t('usageLog.findRequestHint')}
        value={draft.text}
        autoComplete="off"
        maxLength={500}
        aria-invalid={draft.isInvalid}
        aria-describedby={draft.isInvalid ? `${id}-error` : undefined}
        onChange={change}
        onKeyDown={onKeyDown}
        onBlur={() => commit(draft.text)}
      />
      {draft.isInvalid && (
        <span id={`${id}-error`} className="tg-filter-error" role="alert">
          {t('usageLog.requestIdInvalid')}
        </span>
      )}
    </span>
  )
}
