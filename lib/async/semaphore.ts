// Turns at something of which there are a few: who is in a hurry goes before all that wait.

/** `crowded` is called when one in a hurry has to wait. */
export function openTurns(most: number, crowded: () => void) {
  const hasty: (() => void)[] = []
  const patient: (() => void)[] = []
  let taken = 0
  return {
    /** Resolves when the turn has come; every turn is ended with `end`. */
    async begin(urgent: boolean): Promise<void> {
      if (taken < most) {
        taken += 1
        return
      }
      const turn = new Promise<void>(go => (urgent ? hasty : patient).push(go))
      if (urgent) crowded()
      await turn
    },
    end() {
      // The turn passes on, so that nobody who comes now gets between.
      const next = hasty.shift() ?? patient.shift()
      if (next) next()
      else taken -= 1
    },
  }
}
