import { type ReactElement, useId, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { Overlay } from '#console/ui/overlay.tsx'
import { focusFirstFault, useSubmit } from '#console/ui/use-submit.ts'
import type { User } from '#read-api/contract/users.ts'

type DialogProps = {
  user: User
  isOpen: boolean
  title: string
  body: string
  actionText: string
  /** Closes what has to close, unless it fails. */
  act: () => Promise<void>
  onClose: () => void
}

/** Asks for the username before something that has no way back. */
export function TypedNameDialog(props: DialogProps): ReactElement {
  const id = useId()
  return (
    <Overlay
      isOpen={props.isOpen}
      onClose={props.onClose}
      labelledBy={id}
      describedBy={`${id}-body`}
      role="alertdialog"
      className="tg-dialog"
    >
      <h2 id={id}>{props.title}</h2>
      <TypedName {...props} bodyId={`${id}-body`} />
    </Overlay>
  )
}

/** Mounted with the dialog: what was typed for one is never there for the next. */
function TypedName(props: DialogProps & { bodyId: string }): ReactElement {
  const { user, onClose } = props
  const { t } = useTranslation()
  const body = useRef<HTMLFormElement>(null)
  const [typed, setTyped] = useState('')
  const [isWrong, setWrong] = useState(false)
  const { isBusy, submit } = useSubmit(async () => {
    setWrong(typed.trim() !== user.username)
    if (typed.trim() !== user.username) return focusFirstFault(body)
    await props.act()
    onClose()
  })
  return (
    <form
      ref={body}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <div id={props.bodyId} className="tg-dialog-body">
        <p>{props.body}</p>
        <FormField
          label={t('users.typeName', { name: user.username })}
          error={isWrong ? t('users.fault.nameDiffers') : undefined}
        >
          {(control) => (
            <TextInput
              {...control}
              autoComplete="off"
              spellCheck={false}
              value={typed}
              onChange={setTyped}
            />
          )}
        </FormField>
      </div>
      <div className="tg-dialog-foot">
        <Button onClick={onClose}>{t('ui.cancel')}</Button>
        <Button tone="danger" isBusy={isBusy} onClick={() => void submit()}>
          {props.actionText}
        </Button>
      </div>
    </form>
  )
}
