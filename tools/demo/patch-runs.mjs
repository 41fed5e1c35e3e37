const DAY_MS = 86_400_000;

/** Of the patches that are there before anybody watches; the dates are made up. A hotfix counts as its predecessor. */
export const patches = [
  { patch: '1.28', publishedAt: '2024-01-10T10:00:00.000Z' },
  { patch: '1.28.1', publishedAt: '2024-01-24T10:00:00.000Z', sameAs: '1.28' },
  { patch: '1.29', publishedAt: '2024-05-15T10:00:00.000Z' },
  { patch: '1.30', publishedAt: '2024-10-02T10:00:00.000Z' },
  { patch: '1.31', publishedAt: '2025-03-19T10:00:00.000Z' },
];

/** Achievements, and about how many days of the game a good run takes. */
export const achievements = [
  { board: 'demo-london', title: 'Hindustan owns London', days: 9_000 },
  { board: 'demo-tea', title: 'Holland holds the tea trade', days: 5_200 },
  { board: 'demo-islands', title: 'One crown for every island', days: 14_500 },
  { board: 'demo-crusade', title: 'Jerusalem in five years', days: 1_500 },
];

const names =
  'Ada Amir Anouk Astrid Bela Bohdan Carmen Chidi Dalia Dario Edda Emre Farah Felix Greta Hamid Hana Igor Ines Jakob Jun Kaveh Kira Leif Lucia Malik Mara Milo Nadia Noor Olga Oscar Petra Pim Quinn Rafael Rosa Samir Signe Taro Thea Umar Vera Viktor Wanda Xenia Yusuf Zoe';

/** Players, with the id and the name of each. */
export const players = names.split(' ').map((displayName) => ({
  playerId: `runner-${displayName.toLowerCase()}`,
  displayName,
}));

/** Numbers from 0 to 1, the same for the same seed: mulberry32. */
export function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** How many days one run took: whole, as the game counts; `skill` is that of the player, from 0 (the best) to 1. */
function daysOf({ days }, skill, random) {
  const luck = 1 + 0.35 * -Math.log(1 - random());
  return Math.max(1, Math.round(days * (0.75 + 0.6 * skill) * luck));
}

/** A skill for each player; those of one seed are as good as ever. */
function skillsOf(seed) {
  const random = randomOf(seed ^ 0x5eed);
  return new Map(players.map(({ playerId }) => [playerId, random()]));
}

/**
 * The runs of the years before, in the order of their dates: made by a generator, the same for the same seed, also to the
 * ids of their submissions, so that they count once however often they are sent.
 */
export function earlierRuns(seed) {
  const random = randomOf(seed);
  const skills = skillsOf(seed);
  const runs = [];
  for (const achievement of achievements) {
    for (const { playerId } of players) {
      for (const [at, { patch, publishedAt }] of patches.entries()) {
        if (random() < 0.62) continue;
        const fromMs = Date.parse(publishedAt);
        const untilMs = patches[at + 1] ? Date.parse(patches[at + 1].publishedAt) : fromMs + 120 * DAY_MS;
        const score = daysOf(achievement, skills.get(playerId), random);
        const achievedAtMs = Math.floor(fromMs + random() * (untilMs - fromMs));
        runs.push({ board: achievement.board, playerId, score, patch, achievedAtMs });
      }
    }
  }
  return runs
    .sort((a, b) => a.achievedAtMs - b.achievedAtMs)
    .map(({ achievedAtMs, ...run }, at) => ({
      ...run,
      submissionId: `demo-s${seed}-${at}`,
      achievedAt: new Date(achievedAtMs).toISOString(),
    }));
}

/**
 * Makes the runs of now, one after the other.
 * @param id what the ids of their submissions begin with: of this run of the demo alone
 * @returns a function that takes the patches there are, in their order, and gives a run, mostly on the newest
 */
export function laterRuns(seed, id) {
  const random = randomOf(seed + 1);
  const skills = skillsOf(seed);
  const one = (list) => list[Math.floor(random() * list.length)];
  let made = 0;
  return (patchIds) => {
    const achievement = one(achievements);
    const { playerId } = one(players);
    const patch = random() < 0.7 ? patchIds.at(-1) : one(patchIds);
    const score = daysOf(achievement, skills.get(playerId), random);
    return { board: achievement.board, playerId, score, patch, submissionId: `${id}-${made++}` };
  };
}
