import { apiQuery } from '#console/api/client.ts'
import '#console/ui/forms/forms.css'
import './users.css'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { Button } from '#console/ui/elements/button.tsx'
import { formProps } from '#console/ui/forms/use-draft-form.ts'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import type { User } from '#read-api/contract/users.ts'
import { useUserForm } from './form/use-user-form.ts'
import { UserForm } from './form/user-form.tsx'

/** The page on which users change their own profile, except for their group and their quota. */
export function EditOwnProfilePage() {
  const { t } = useTranslation()
  const ownUser = useQuery(ownUserQuery)
  const [saves, setSaves] = useState(0)
  const isLoaded = !ownUser.isFetching || saves > 0
  const onSaved = () => void ownUser.refetch().then(() => setSaves((count) => count + 1))
  return (
    <Page title={t('users.selfTitle')} lead={t('users.lead.self')}>
      <div className="tg-user-self">
        <Panel>
          <QueryView query={{ ...ownUser, data: isLoaded ? ownUser.data : undefined }} height={220}>
            {(user) => <Form key={saves} user={user} onSaved={onSaved} />}
          </QueryView>
        </Panel>
        <p className="tg-hint">
          {t('users.selfMore')} <Link to="/app/me">{t('shell.me')}</Link>
        </p>
      </div>
    </Page>
  )
}

/**
 * The form for the profile. The form is mounted again after each save, because the form must start
 * with the saved values.
 */
function Form({ user, onSaved }: { user: User; onSaved: () => void }) {
  const { t } = useTranslation()
  const form = useUserForm({ isOpen: true, kind: 'self', user, onClose: onSaved })
  return (
    <form className="tg-form" {...formProps(form)}>
      <UserForm kind="self" form={form} />
      <Button type="submit" tone="primary" isBusy={form.isBusy} isDisabled={!form.isChanged}>
        {t('shared.saveChanges')}
      </Button>
    </form>
  )
}

const ownUserQuery = { ...apiQuery('GET /api/user/self', undefined, ['own-user']), staleTime: 0 }
