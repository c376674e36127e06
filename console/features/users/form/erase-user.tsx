import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useId, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { eraseUser } from '#console/api/users/erase-user.ts'
import { usersKey } from '#console/api/users/list-users.ts'
import { Button } from '#console/ui/button.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { Overlay } from '#console/ui/overlay.tsx'
import { showSuccess } from '#console/ui/toast.ts'
import { focusFirstFault, useSubmit } from '#console/ui/use-submit.ts'
import type { User } from '#read-api/contract/user.ts'
import { calledOf } from '../user-acts.ts'

/** What a super admin may do when the law, or the user, asks for it. There is no way back. */
export function EraseUser(props: { user: User; onDone: () => void }): ReactElement {
  const { t } = useTranslation()
  const [isAsking, setAsking] = useState(false)
  return (
    <section className="tg-user-part tg-user-danger">
      <div>
        <h3>{t('users.erase')}</h3>
        <p className="tg-hint">{t('users.eraseHint')}</p>
      </div>
      <Button icon="trash" onClick={() => setAsking(true)}>
        {t('users.eraseOpen')}
      </Button>
      <EraseDialog {...props} isOpen={isAsking} onClose={() => setAsking(false)} />
    </section>
  )
}

type DialogProps = { user: User; isOpen: boolean; onClose: () => void; onDone: () => void }

function EraseDialog(props: DialogProps): ReactElement {
  const { t } = useTranslation()
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
      <h2 id={id}>{t('users.eraseTitle', { name: calledOf(props.user) })}</h2>
      <TypedName {...props} bodyId={`${id}-body`} />
    </Overlay>
  )
}

/** Mounted with the dialog: what was typed for one is never there for the next. */
function TypedName(props: DialogProps & { bodyId: string }): ReactElement {
  const { user, onClose, onDone } = props
  const { t } = useTranslation()
  const client = useQueryClient()
  const body = useRef<HTMLFormElement>(null)
  const [typed, setTyped] = useState('')
  const [isWrong, setWrong] = useState(false)
  const { isBusy, submit } = useSubmit(async () => {
    setWrong(typed.trim() !== user.username)
    if (typed.trim() !== user.username) return focusFirstFault(body)
    await eraseUser({ id: user.id, username: typed.trim() })
    await client.invalidateQueries({ queryKey: usersKey })
    showSuccess(t('users.erased'), { goesAlong: true })
    onClose()
    onDone()
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
        <p>{t('users.eraseBody')}</p>
        <FormField
          label={t('users.eraseName', { name: user.username })}
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
          {t('users.eraseAction')}
        </Button>
      </div>
    </form>
  )
}
