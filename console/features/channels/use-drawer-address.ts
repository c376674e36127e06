import { useDrawerAddress as useAddress } from '#console/ui/dialogs/use-drawer-address.ts'

export type { Edited } from '#console/ui/dialogs/use-drawer-address.ts'

const AT = { list: '/admin/channels', add: '/channel/add', edit: '/channel/edit' }

export const useDrawerAddress = () => useAddress(AT)
