// Cleanup when an account signs out or another one signs in.
import { effect } from '@preact/signals'
import { account } from './session.ts'

const actions: (() => void)[] = []

/** Registers an action for when the account changes. */
export const onSignOut = (action: () => void) => void actions.push(action)

let previous: string | null = null
effect(() => {
  const id = account.value?.id ?? null
  if (id === previous) return
  previous = id
  for (const action of actions) action()
})
