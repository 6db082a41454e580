// Proofs that configurations of an arm are free or barred, sixteen at once, and RRT-Connect with shortcuts among them.
//
// Every geom is cut into pieces: one sphere contains a piece, one is inside it. Where these leave open whether two
// pieces are apart, the nearest points of both give a plane between them, or are too near to each other.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace {

constexpr int W = 16;           // configurations at once
constexpr float SLACK = 3e-5f;  // m; more than single precision loses along the chain
constexpr int ROUNDS = 6;       // of nearest points, before a pair is left open
constexpr double SEEN = 1.5;    // rad; a node from which an edge failed is grown towards nothing farther away
constexpr double GAIN = 0.05;   // rad; what a shortcut must save
typedef float V __attribute__((vector_size(4 * W)));
typedef int32_t M __attribute__((vector_size(4 * W)));
typedef int64_t L __attribute__((vector_size(4 * W)));
typedef double Q __attribute__((vector_size(64)));  // a configuration, of up to eight joints
typedef int (*Ask)(int);  // 0: go on? 1: is what stands in `asked` free? A negative answer ends the search

V all(double a) { return V{} + float(a); }
V size(V a) { return a < 0 ? -a : a; }
V clamp(V a, float r) { return a > r ? all(r) : a < -r ? all(-r) : a; }
bool any(M m) {
    int64_t some = 0;
    for (int i = 0; i < W / 2; i++) some |= ((L)m)[i];
    return some;
}
V root(V a) {
    for (int i = 0; i < W; i++) a[i] = __builtin_sqrtf(a[i]);
    return a;
}
V sine(V x) {
    M turns = __builtin_convertvector(x * float(1 / M_PI) + (x < 0 ? all(-0.5) : all(0.5)), M);
    V k = __builtin_convertvector(turns, V), r = x - k * 3.140625f - k * 9.67653589793e-4f, s = r * r;
    V tail = 8.3333333e-3f + s * (-1.9841270e-4f + s * (2.7557319e-6f - s * 2.5052108e-8f));
    V y = r + r * s * (-1.6666667e-1f + s * tail);
    return (turns & 1) ? -y : y;
}

struct P {
    V x, y, z;
    V dot(P o) const { return x * o.x + y * o.y + z * o.z; }
    P operator-(P o) const { return {x - o.x, y - o.y, z - o.z}; }
    P operator+(P o) const { return {x + o.x, y + o.y, z + o.z}; }
    P operator*(V k) const { return {x * k, y * k, z * k}; }
};

struct Frame {
    P x, y, z, at;  // axes and origin
    P turn(P p) const { return x * p.x + y * p.y + z * p.z; }
    P out(P p) const { return turn(p) + at; }
    P turn_in(P p) const { return {x.dot(p), y.dot(p), z.dot(p)}; }
    P in(P p) const { return turn_in(p - at); }
    Frame of(const Frame& f) const { return {turn(f.x), turn(f.y), turn(f.z), out(f.at)}; }
};

Frame frame_of(const double* m) {  // rows of a 3x4 matrix
    auto column = [m](int i) { return P{all(m[i]), all(m[4 + i]), all(m[8 + i])}; };
    return {column(0), column(1), column(2), column(3)};
}

struct Piece {
    int link, geom, round, exact;  // link -1: of the world; round: a cylinder; exact: no larger than the geom
    float a, b, c, outer, inner;   // half sizes and the two radii
    Frame local, now;
    bool known;  // whether `now` is that of the present configurations
    P nearest(P p) const {
        P q{clamp(p.x, a), clamp(p.y, b), clamp(p.z, c)};
        if (!round) return q;
        V rho = p.x * p.x + p.y * p.y, share = rho > a * a ? a / root(rho) : all(1);
        return {p.x * share, p.y * share, q.z};
    }
    V support(P n) const {
        return c * size(n.z) + (round ? a * root(n.x * n.x + n.y * n.y) : a * size(n.x) + b * size(n.y));
    }
    V far2(P p) const {  // squared distance of a point in the piece's frame
        P d = p - nearest(p);
        return d.dot(d);
    }
};

struct Ball {  // around all pieces of a link
    P centre, now;
    float radius;
};

Q between(Q a, Q b, double share) { return a + (b - a) * share; }
double distance(Q a, Q b) {
    Q d = (a - b) * (a - b);
    return std::sqrt(((d[0] + d[1]) + (d[2] + d[3])) + ((d[4] + d[5]) + (d[6] + d[7])));
}

struct Node {
    Q q;
    int up;
    double seen = INFINITY;
};

struct Tree {
    int n;
    std::vector<Node> nodes;
    std::vector<V> columns;  // the nodes' configurations, a joint of W nodes in each; what is not there is far away

    void add(Q q, int up) {
        size_t at = nodes.size() / W * n, lane = nodes.size() % W;
        if (!lane) columns.resize(at + n, all(INFINITY));
        for (int i = 0; i < n; i++) columns[at + i][lane] = float(q[i]);
        nodes.push_back({q, up});
    }
    int nearest(Q q) const {
        V least = all(INFINITY);
        M at{};
        for (int block = 0; block * n < int(columns.size()); block++) {
            V far2{};
            for (int i = 0; i < n; i++) {
                V d = columns[block * n + i] - float(q[i]);
                far2 += d * d;
            }
            M nearer = far2 < least;
            least = nearer ? far2 : least, at = nearer ? M{} + block : at;
        }
        int lane = 0;
        for (int k = 1; k < W; k++)
            if (least[k] < least[lane]) lane = k;
        return at[lane] * W + lane;
    }
};

struct Kernel {
    int n, geoms;
    std::vector<Frame> offsets, links;
    std::vector<Piece> pieces;
    std::vector<Ball> balls;
    std::vector<std::vector<int>> members;  // pieces of the world and of each link
    std::vector<uint8_t> collide, meets;    // of geoms; of links and the world
    std::vector<float> least;
    std::vector<int> ones, twos;
    float widest;
    bool bounded, stopped;
    P low, high, tip;
    Ask ask;
    double *asked, step;
    long checks;
    std::mt19937_64 numbers;

    const Frame& frame(Piece& p) {
        if (!p.known) p.now = links[p.link].of(p.local), p.known = true;
        return p.now;
    }

    void relate(int i, int j, M& hit, M& open) {
        if (pieces[i].outer > pieces[j].outer) std::swap(i, j);
        Piece &one = pieces[i], &two = pieces[j];
        float wanted = least[one.geom * geoms + two.geom], need = std::max(wanted, 0.0f) + SLACK;
        float barred = one.exact && two.exact && wanted > SLACK ? wanted - SLACK : -one.inner;
        const Frame &f = frame(one), &g = frame(two);
        P p = g.in(f.at), x;
        V far2 = two.far2(p);
        M undecided = ~hit & (far2 < (one.outer + need) * (one.outer + need));
        if (!any(undecided)) return;
        hit |= undecided & (far2 < (one.inner + barred) * (one.inner + barred));
        undecided &= ~hit;
        for (int round = 0; round < ROUNDS && any(undecided); round++) {
            p = f.out(one.nearest(f.in(g.out(two.nearest(p)))));
            x = g.out(two.nearest(g.in(p)));
            P d = x - p;
            V far = root(d.dot(d));
            P normal = d * (1 / (far + 1e-9f));
            V gap = (x - f.at).dot(normal) - one.support(f.turn_in(normal));
            hit |= undecided & (far < barred);
            undecided &= ~(hit | ((gap > need) & (far > 1e-6f)));
            p = g.in(p);
        }
        open |= undecided;
    }

    void near(int a, int b, M hit, std::vector<int>& found) {  // pieces of link b near the ball of link a
        found.clear();
        P apart = b < 0 ? P{} : balls[a].now - balls[b].now;
        float reach = balls[a].radius + widest, both = b < 0 ? 1 : reach + balls[b].radius;
        if (!any(apart.dot(apart) < both * both)) return;
        for (int i : members[b + 1])
            if (any((pieces[i].far2(frame(pieces[i]).in(balls[a].now)) < reach * reach) & ~hit)) found.push_back(i);
    }

    // Say which configurations are barred and which remain open; with `brief`, return at the first barred one.
    void classify(const V* q, M& hit, M& open, bool brief) {
        for (int i = 0; i < n; i++) {
            V s = sine(q[i]), c = sine(q[i] + float(M_PI / 2));
            Frame f = i ? links[i - 1].of(offsets[i]) : offsets[0];
            links[i] = {f.x * c + f.y * s, f.y * c - f.x * s, f.z, f.at};
            balls[i].now = links[i].out(balls[i].centre);
        }
        for (Piece& p : pieces) p.known = p.link < 0;
        hit = open = M{};
        if (bounded) {
            P over = links[n - 1].out(tip) - high, under = low - links[n - 1].out(tip);
            for (V by : {over.x, over.y, over.z, under.x, under.y, under.z}) hit |= by > SLACK, open |= by > -SLACK;
        }
        for (int a = n - 1; a >= 0; a--)  // what is farther out is barred more often
            for (int b = -1; b < a; b++) {
                if (!meets[a * (n + 1) + b + 1]) continue;
                if (brief && any(hit)) return;
                b < 0 ? void(ones = members[a + 1]) : near(b, a, hit, ones);
                if (ones.empty()) continue;
                near(a, b, hit, twos);
                for (int i : ones)
                    for (int j : twos)
                        if (collide[pieces[i].geom * geoms + pieces[j].geom]) relate(i, j, hit, open);
            }
        open &= ~hit;
    }

    bool yes(int what) {
        int said = ask(what);
        stopped |= said < 0;
        return said > 0;
    }

    // Whether the straight way is free, without its beginning. What is looked at together is spread along it.
    bool edge(Q a, Q b) {
        int count = std::max(int(std::ceil(distance(a, b) / step)), 1), rows = (count + W - 1) / W;
        std::vector<int> left;
        for (int row = 0; row < rows; row++) {
            V q[8];
            M hit, open;
            for (int k = 0; k < W; k++) {
                Q at = between(a, b, double(std::min(1 + row + k * rows, count)) / count);
                for (int i = 0; i < n; i++) q[i][k] = float(at[i]);
            }
            checks += W;
            classify(q, hit, open, true);
            if (any(hit)) return false;
            for (int k = 0; k < W && any(open); k++)
                if (open[k] && (left.empty() || left.back() != count)) left.push_back(std::min(1 + row + k * rows, count));
        }
        return std::all_of(left.begin(), left.end(), [&](int k) {
            Q q = between(a, b, double(k) / count);
            for (int i = 0; i < n; i++) asked[i] = q[i];
            return yes(1);
        });
    }

    double random() { return double(numbers() >> 11) * 0x1p-53; }  // in [0, 1)

    // Grow a tree by at most `range` towards q and return whether it grew; `there`: whether to q itself.
    bool extend(Tree& tree, Q q, double range, bool sampled, bool& there) {
        int best = tree.nearest(q);
        Node& from = tree.nodes[best];
        double far = distance(from.q, q);
        there = far <= range;
        if (sampled && from.seen < far) return false;
        Q next = there ? q : between(from.q, q, range / far);
        if (far > 0 && !edge(from.q, next)) return from.seen = SEEN, there = false;
        tree.add(next, best);
        return true;
    }

    std::vector<Q> search(Tree& a, Tree& b, Q low, Q high, double range, long most) {
        for (long before = -1; checks < most && !stopped && (checks == before || yes(0));) {
            bool first = a.nodes.size() <= b.nodes.size();
            Tree &grown = first ? a : b, &other = first ? b : a;
            Q q = low;
            for (int i = 0; i < n; i++) q[i] += random() * (high[i] - low[i]);
            bool there;
            before = checks;
            if (!extend(grown, q, range, true, there)) continue;
            Q target = grown.nodes.back().q;
            while (extend(other, target, range, false, there) && !there && checks < most) continue;
            if (!there) continue;
            std::vector<Q> path;
            for (int i = int(a.nodes.size()) - 1; i >= 0; i = a.nodes[i].up) path.push_back(a.nodes[i].q);
            std::reverse(path.begin(), path.end());
            for (int i = b.nodes.back().up; i >= 0; i = b.nodes[i].up) path.push_back(b.nodes[i].q);
            return path;
        }
        return {};
    }

    void reduce(std::vector<Q>& path) {
        for (size_t i = 0; i + 2 < path.size(); i++)
            for (size_t j = path.size() - 1; j > i + 1; j--)
                if (edge(path[i], path[j])) {
                    path.erase(path.begin() + i + 1, path.begin() + j);
                    break;
                }
    }

    void shorten(std::vector<Q>& path, int tries) {
        reduce(path);
        for (int t = 0; t < tries && path.size() > 2 && !stopped && yes(0); t++) {
            double a = random() * (path.size() - 1), b = random() * (path.size() - 1);
            int i = int(std::min(a, b)), j = int(std::max(a, b));
            if (i == j) continue;
            Q p = between(path[i], path[i + 1], std::min(a, b) - i), q = between(path[j], path[j + 1], std::max(a, b) - j);
            double along = distance(p, path[i + 1]) + distance(path[j], q);
            for (int k = i + 1; k < j; k++) along += distance(path[k], path[k + 1]);
            if (along < distance(p, q) + GAIN || !edge(p, q)) continue;
            path.erase(path.begin() + i + 1, path.begin() + j + 1);
            path.insert(path.begin() + i + 1, {p, q});
        }
        reduce(path);
    }
};

}  // namespace

extern "C" {

Kernel* kernel_new(int n, const double* offsets, int count, const int* whats, const double* frames, const double* halves,
                   int geoms, const uint8_t* collide) {
    Kernel* k = new Kernel{};
    k->n = n, k->geoms = geoms;
    k->links.resize(n), k->balls.resize(n), k->members.resize(n + 1), k->meets.resize(n * (n + 1));
    k->collide.assign(collide, collide + geoms * geoms);
    for (int i = 0; i < n; i++) k->offsets.push_back(frame_of(offsets + 12 * i));
    for (int i = 0; i < count; i++, whats += 4, halves += 3) {
        float a = halves[0], b = halves[1], c = halves[2], outer = std::sqrt(a * a + (whats[2] ? 0 : b * b) + c * c) + SLACK;
        Frame f = frame_of(frames + 12 * i);
        k->pieces.push_back({whats[0], whats[1], whats[2], whats[3], a, b, c, outer, std::min({a, b, c}), f, f, false});
        k->members[whats[0] + 1].push_back(i);
    }
    for (const Piece& p : k->pieces)
        for (const Piece& q : k->pieces)
            if (p.link >= 0 && collide[p.geom * geoms + q.geom]) k->meets[p.link * (n + 1) + q.link + 1] = 1;
    for (int i = 0; i < n; i++) {
        const std::vector<int>& own = k->members[i + 1];
        P sum{};
        for (int j : own) sum = sum + k->pieces[j].local.at;
        k->balls[i].centre = sum * all(1.0 / std::max(own.size(), size_t(1)));
        for (int j : own) {
            P d = k->pieces[j].local.at - k->balls[i].centre;
            k->balls[i].radius = std::max(k->balls[i].radius, root(d.dot(d))[0] + k->pieces[j].outer + SLACK);
        }
    }
    return k;
}

void kernel_delete(Kernel* k) { delete k; }
// Set the least distances of pairs of geoms and, unless `box` is null, where a point of the last link must stay.
void kernel_rules(Kernel* k, const double* least, const double* box, const double* tip) {
    k->least.assign(least, least + k->geoms * k->geoms);
    k->widest = std::max(0.0f, *std::max_element(k->least.begin(), k->least.end())) + 2 * SLACK;
    auto point = [](const double* p) { return P{all(p[0]), all(p[1]), all(p[2])}; };
    k->bounded = box != nullptr;
    if (box) k->low = point(box), k->high = point(box + 3), k->tip = point(tip);
}

// For each of the configurations: 0 proven free, 1 open, 2 proven barred.
void kernel_states(Kernel* k, const double* path, int count, int8_t* states) {
    for (int first = 0; first < count; first += W) {
        V q[8];
        M hit, open;
        for (int lane = 0; lane < W; lane++)
            for (int i = 0; i < k->n; i++) q[i][lane] = float(path[std::min(first + lane, count - 1) * k->n + i]);
        k->classify(q, hit, open, false);
        for (int j = first; j < std::min(first + W, count); j++) states[j] = hit[j - first] ? 2 : open[j - first] ? 1 : 0;
    }
}

// Find a path from the first configuration to one of the others; return its length, 0 for none.
int kernel_path(Kernel* k, const double* q, int goals, const double* box, double range, double step, long most, int tries,
                uint64_t seed, Ask ask, double* asked, double* found, int room) {
    int n = k->n;
    k->ask = ask, k->asked = asked, k->step = step, k->checks = 0, k->stopped = false, k->numbers.seed(seed);
    auto row = [n](const double* from, int i) {
        Q q{};
        for (int j = 0; j < n; j++) q[j] = from[i * n + j];
        return q;
    };
    Tree a{n}, b{n};
    a.add(row(q, 0), -1);
    for (int i = 1; i <= goals; i++) b.add(row(q, i), -1);
    std::vector<Q> path = k->search(a, b, row(box, 0), row(box, 1), range, most);
    k->shorten(path, tries);
    if (k->stopped || int(path.size()) > room) return 0;
    for (Q point : path)
        for (int i = 0; i < n; i++) *found++ = point[i];
    return int(path.size());
}
}
