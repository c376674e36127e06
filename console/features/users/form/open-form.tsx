import type { ReactElement, ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { FormDrawer } from '#console/ui/form-drawer.tsx'
import { calledOf } from '../user-actions.ts'
import { type UserFormGiven, useUserForm } from './use-user-form.ts'
import { UserForm } from './user-form.tsx'

type FormProps = UserFormGiven & {
  kind: 'new' | 'other'
  /** Below the form: what is shown and not edited. */
  children?: ReactNode
}

/** The drawer around a user's form. */
export function OpenForm(props: FormProps): ReactElement {
  const { kind, user } = props
  const { t } = useTranslation()
  const { form, isChanged, isBusy, submit, fields } = useUserForm(props)
  const isNew = kind === 'new'
  const name = user === null ? '' : calledOf(user)
  return (
    <FormDrawer
      isOpen={props.isOpen}
      title={isNew ? t('users.createTitle') : t('users.editTitle', { name })}
      lead={t(`users.lead.${kind}`)}
      submitText={t(isNew ? 'users.createAction' : 'users.saveAction')}
      form={form}
      isChanged={isChanged}
      isBusy={isBusy}
      onSubmit={() => void submit()}
      onClose={props.onClose}
    >
      <UserForm {...fields} />
      {props.children}
    </FormDrawer>
  )
}
