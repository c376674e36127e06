import { useQuery } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ownUserQuery } from '#console/api/users/own-user.ts'
import { Drawer } from '#console/ui/drawer.tsx'
import { ErrorState } from '#console/ui/empty-state.tsx'
import { Skeleton } from '#console/ui/skeleton.tsx'
import type { User } from '#read-api/contract/user.ts'
import { OpenForm } from './form/open-form.tsx'

/** One's own name and password, at `/user/edit`: without group and quota. */
export function SelfDrawer(props: { isOpen: boolean; onClose: () => void }): ReactElement {
  const { t } = useTranslation()
  const own = useQuery({ ...ownUserQuery, enabled: props.isOpen })
  const [loaded, setLoaded] = useState<User | null>(null)
  if (loaded === null && own.data !== undefined && !own.isFetching) setLoaded(own.data)
  if (loaded !== null) return <OpenForm {...props} kind="self" user={loaded} />
  return (
    <Drawer {...props} title={t('users.editPending')}>
      {own.error === null ? (
        <Skeleton height={160} />
      ) : (
        <ErrorState error={own.error} onRetry={() => void own.refetch()} />
      )}
    </Drawer>
  )
}
