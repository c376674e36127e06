import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, type ReactNode, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { storedUser, storeUser } from '#console/api/session.ts'
import { createUser } from '#console/api/users/create-user.ts'
import { usersKey } from '#console/api/users/list-users.ts'
import { updateOwnUser } from '#console/api/users/update-own-user.ts'
import { updateUser } from '#console/api/users/update-user.ts'
import { FormDrawer } from '#console/ui/form-drawer.tsx'
import { showInfo, showSuccess } from '#console/ui/toast.ts'
import { useLeaveGuard } from '#console/ui/use-leave-guard.ts'
import { focusFirstFault, useSubmit } from '#console/ui/use-submit.ts'
import type { User } from '#read-api/contract/user.ts'
import type { UpdateSelf } from '#write-api/contract/user.ts'
import { calledOf } from '../user-acts.ts'
import {
  changedSelf,
  changedUser,
  createdUser,
  draftOfUser,
  type FormKind,
  newUser,
  type UserDraft,
  type UserFaults,
  userFaults,
} from './user-draft.ts'
import { UserForm } from './user-form.tsx'

type FormProps = {
  isOpen: boolean
  kind: FormKind
  /** As on the server; null for a new one. */
  user: User | null
  onClose: () => void
  /** Below the form: what is shown and not edited. */
  children?: ReactNode
}

/** The drawer with its draft: nothing leaves it with a fault, and no change is lost unasked. */
export function OpenForm(props: FormProps): ReactElement {
  const { kind, user } = props
  const { t } = useTranslation()
  const form = useRef<HTMLFormElement>(null)
  const [before] = useState(() => (user === null ? newUser() : draftOfUser(user)))
  const [draft, setDraft] = useState<UserDraft>(before)
  const [faults, setFaults] = useState<UserFaults>({})
  const isChanged = JSON.stringify(draft) !== JSON.stringify(before)
  useLeaveGuard(props.isOpen && isChanged && kind !== 'new')
  const save = useSave(props)
  const { isBusy, submit } = useSubmit(async () => {
    const found = userFaults(kind, before, draft)
    setFaults(found)
    if (Object.keys(found).length > 0) return focusFirstFault(form)
    await save(before, draft)
  }, props.onClose)
  const isNew = kind === 'new'
  const editTitle = t(kind === 'self' ? 'users.selfTitle' : 'users.editTitle', {
    name: user === null ? '' : calledOf(user),
  })
  return (
    <FormDrawer
      isOpen={props.isOpen}
      title={isNew ? t('users.createTitle') : editTitle}
      lead={t(`users.lead.${kind}`)}
      submitText={t(isNew ? 'users.createAction' : 'users.saveAction')}
      form={form}
      isChanged={isChanged}
      isBusy={isBusy}
      onSubmit={() => void submit()}
      onClose={props.onClose}
    >
      <UserForm
        kind={kind}
        before={before}
        draft={draft}
        faults={faults}
        onChange={(patch) => {
          const next = { ...draft, ...patch }
          setDraft(next)
          if (Object.keys(faults).length > 0) setFaults(userFaults(kind, before, next))
        }}
      />
      {props.children}
    </FormDrawer>
  )
}

/** The name is in the top bar, too. */
async function updateSelf(change: UpdateSelf): Promise<void> {
  await updateOwnUser(change)
  const own = storedUser()
  const { display_name } = change
  if (own !== null && display_name !== undefined) storeUser({ ...own, display_name })
}

/** Said while the form's address is left for the list's. */
const ALONG = { goesAlong: true }

function useSave({ kind, user, onClose }: FormProps) {
  const { t } = useTranslation()
  const client = useQueryClient()
  return async (before: UserDraft, draft: UserDraft) => {
    if (user === null) {
      await createUser(createdUser(draft))
      showSuccess(t('users.userCreated'), ALONG)
    } else {
      const changed = kind === 'self' ? changedSelf(before, draft) : changedUser(before, draft)
      if (Object.keys(changed).length === 0) return showInfo(t('users.unchanged'))
      if (kind === 'self') await updateSelf(changed)
      else await updateUser({ id: user.id, ...changed })
      showSuccess(t('users.saved'), ALONG)
    }
    await client.invalidateQueries({ queryKey: usersKey })
    onClose()
  }
}
