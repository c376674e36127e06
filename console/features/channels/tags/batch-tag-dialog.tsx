import { type ReactElement, useId, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { Overlay } from '#console/ui/overlay.tsx'
import { focusFirstFault, useSubmit } from '#console/ui/use-submit.ts'

/** Asks for the tag that all chosen channels get. */
export function BatchTagDialog(props: {
  isOpen: boolean
  count: number
  onClose: () => void
  /** Answers whether they have it now. */
  onTag: (tag: string) => Promise<boolean>
}): ReactElement {
  const id = useId()
  return (
    <Overlay isOpen={props.isOpen} onClose={props.onClose} labelledBy={id} className="tg-dialog">
      <TagForm {...props} titleId={id} />
    </Overlay>
  )
}

/** Its own part, so that each opening starts anew. */
function TagForm(props: {
  titleId: string
  count: number
  onClose: () => void
  onTag: (tag: string) => Promise<boolean>
}): ReactElement {
  const { t } = useTranslation()
  const form = useRef<HTMLFormElement>(null)
  const [tag, setTag] = useState('')
  const [isMissing, setMissing] = useState(false)
  const { isBusy, submit } = useSubmit(async () => {
    setMissing(tag.trim() === '')
    if (tag.trim() === '') return focusFirstFault(form)
    if (await props.onTag(tag.trim())) props.onClose()
  }, props.onClose)
  return (
    <form
      ref={form}
      className="tg-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <h2 id={props.titleId}>{t('channelTags.batchTitle', { count: props.count })}</h2>
      <FormField
        label={t('channels.tag')}
        hint={t('channelTags.batchHint')}
        error={isMissing ? t('channelForm.fault.tagMissing') : undefined}
        isRequired
      >
        {(control) => (
          <TextInput
            {...control}
            autoFocus
            maxLength={200}
            value={tag}
            onChange={(next) => {
              setTag(next)
              if (next.trim() !== '') setMissing(false)
            }}
          />
        )}
      </FormField>
      <div className="tg-dialog-foot">
        <Button onClick={props.onClose}>{t('ui.cancel')}</Button>
        <Button type="submit" tone="primary" isBusy={isBusy}>
          {t('channelTags.batchAction')}
        </Button>
      </div>
    </form>
  )
}
